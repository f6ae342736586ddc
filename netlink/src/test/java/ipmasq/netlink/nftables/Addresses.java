package ipmasq.netlink.nftables;

import ipmasq.netlink.Data;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Ranges of addresses in text, for tests. */
final class Addresses {
  private Addresses() {}

  /** The bytes of an address. */
  static byte[] bytes(String address) {
    return InetAddress.ofLiteral(address).getAddress();
  }

  /** Ranges written as {@code first-last}, or as one address. */
  static Iterator<Element.Range> ranges(String... ranges) {
    return Stream.of(ranges)
        .map(range -> range.split("-"))
        .map(ends -> new Element.Range(bytes(ends[0]), bytes(ends[ends.length - 1])))
        .iterator();
  }

  /** So many ranges of 16 addresses with 16 others between them, from an address on. */
  static Iterator<Element.Range> many(int count, int from) {
    return IntStream.range(0, count)
        .map(i -> from + i * 32)
        .mapToObj(i -> new Element.Range(Data.u32(i).bytes(), Data.u32(i + 15).bytes()))
        .iterator();
  }

  /** The ranges of a set of IPv4 in text, in the order of the kernel. */
  static List<String> in(Nftables nftables, NftSet set) {
    List<String> found = new ArrayList<>();
    int[] last = {-1};
    var failure =
        nftables.elements(
            set,
            element -> {
              byte[] key = element.key().orElseThrow().bytes();
              if (element.end()) {
                last[0] = ByteBuffer.wrap(key).getInt() - 1;
              } else {
                found.add(text(key) + "-" + text(Data.u32(last[0]).bytes()));
                last[0] = -1;
              }
            });
    if (failure.isPresent()) {
      throw new AssertionError(failure.get().toString());
    }
    return found;
  }

  private static String text(byte[] address) {
    try {
      return InetAddress.getByAddress(address).getHostAddress();
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
  }
}
