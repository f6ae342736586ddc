package ipmasq.netlink.nftables;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Ranges of addresses in text, for tests. */
final class Addresses {
  private Addresses() {}

  /** The bytes of an address. */
  static byte[] bytes(String address) {
    return java.net.InetAddress.ofLiteral(address).getAddress();
  }

  /** Ranges written as {@code first-last}, or as one address. */
  static Ranges ranges(String... ranges) {
    Iterator<String> all = List.of(ranges).iterator();
    return (first, last) -> {
      if (!all.hasNext()) {
        return false;
      }
      String[] ends = all.next().split("-");
      System.arraycopy(bytes(ends[0]), 0, first, 0, first.length);
      System.arraycopy(bytes(ends[ends.length - 1]), 0, last, 0, last.length);
      return true;
    };
  }

  /** So many ranges of 16 addresses with 16 others between them, from an address on. */
  static Ranges many(int count, int from) {
    int[] next = {0};
    return (first, last) -> {
      if (next[0] == count) {
        return false;
      }
      int start = from + next[0]++ * 32;
      System.arraycopy(Data.u32(start).bytes(), 0, first, 0, 4);
      System.arraycopy(Data.u32(start + 15).bytes(), 0, last, 0, 4);
      return true;
    };
  }

  /** The ranges of a set in text, in the order of the kernel. */
  static List<String> in(Nftables nftables, NftSet set) {
    List<String> found = new ArrayList<>();
    var failure =
        nftables.ranges(
            set,
            (first, last) ->
                found.add(
                    Format.ADDRESS.show(Data.of(first))
                        + "-"
                        + Format.ADDRESS.show(Data.of(last))));
    if (failure.isPresent()) {
      throw new AssertionError(failure.get().toString());
    }
    return found;
  }
}
