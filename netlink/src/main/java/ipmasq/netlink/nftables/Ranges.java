package ipmasq.netlink.nftables;

/**
 * Ranges of keys, handed over one by one in arrays that are used again for each, so that a hundred
 * thousand of them need no more memory than one.
 */
@FunctionalInterface
public interface Ranges {
  /**
   * Puts the next range into the two arrays, both ends included, in network order; false at the
   * end. For a set of single keys only {@code first} counts.
   */
  boolean next(byte[] first, byte[] last);
}
