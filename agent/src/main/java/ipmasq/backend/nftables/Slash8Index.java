package ipmasq.backend.nftables;

import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.netlink.nftables.Counter;
import ipmasq.netlink.nftables.Data;
import ipmasq.netlink.nftables.ElementVisitor;
import java.util.Collections;
import java.util.Map;
import java.util.TreeSet;

/**
 * The /8 blocks that contain exempt ranges, 256 at most.
 *
 * <p>The kernel finds a single key in a small set faster than it searches a set of ranges. Exempt
 * ranges are mostly private networks, and internet destinations lie in other /8 blocks, so they
 * need no search.
 */
final class Slash8Index implements ElementVisitor {
  static final int MOST = 256;
  private static final int PREFIX = 8;

  private final TreeSet<Cidr> found = new TreeSet<>();
  private boolean odd;

  /** The mask that leaves an address's /8. */
  static Data mask(Family family) {
    byte[] mask = new byte[family.bytes()];
    mask[0] = (byte) 0xff;
    return Data.of(mask);
  }

  /** The areas of ranges that are in order and disjoint. */
  static Cidrs around(Cidrs ranges) {
    Cidrs.Collector areas = new Cidrs.Collector();
    int i = 0;
    while (i < ranges.size()) {
      Cidr range = ranges.get(i);
      int beyond = octet(range.last()) + 1;
      for (int octet = octet(range.first()); octet < beyond; octet++) {
        areas.add(area(range.family(), octet));
      }
      i = beyond < MOST ? indexFrom(ranges, area(range.family(), beyond)) : ranges.size();
    }
    return Cidrs.copyOf(areas);
  }

  /** The index of the first range that begins in an area or beyond. */
  private static int indexFrom(Cidrs ranges, Cidr area) {
    int found = Collections.binarySearch(ranges, area);
    int at = found < 0 ? -found - 1 : found;
    return at > 0 && ranges.get(at - 1).contains(area) ? at - 1 : at; // one that begins with it
  }

  private static int octet(Ip ip) {
    return ip.bytes()[0] & 0xff;
  }

  private static Cidr area(Family family, int octet) {
    byte[] bytes = new byte[family.bytes()];
    bytes[0] = (byte) octet;
    return new Cidr(Ip.ofBytes(bytes), PREFIX);
  }

  @Override
  public void element(byte[] key, boolean end, Counter counter) {
    Ip ip = Ip.ofBytes(key);
    Cidr area = area(ip.family(), octet(ip));
    odd |= !area.first().equals(ip);
    found.add(area);
  }

  /** The areas that belong to a set of such ranges. */
  static SetContent of(SetContent ranges) {
    return SetContent.written(around(ranges.blocks()));
  }

  /** What a set of areas was found to hold. */
  SetContent content() {
    return new SetContent(Cidrs.copyOf(found), Map.of(), odd);
  }
}
