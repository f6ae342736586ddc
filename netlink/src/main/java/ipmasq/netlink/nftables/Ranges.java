package ipmasq.netlink.nftables;

/**
 * Ranges of keys, handed over one by one in reused arrays, so that 100,000 of them need no more
 * memory than one.
 */
@FunctionalInterface
public interface Ranges {
  /**
   * Puts the next range into the two arrays, both ends included, in network order; false at the
   * end. For a set of single keys only {@code first} is used.
   */
  boolean next(byte[] first, byte[] last);
}
