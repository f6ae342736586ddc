package ipmasq.netlink.nftables;

import ipmasq.netlink.nftables.Statement.Counter;

/** Visits the elements of a set as the kernel holds them. */
@FunctionalInterface
public interface ElementVisitor {
  /**
   * An element. A range is two of them: its first key, and with {@code end} the key after its last.
   * A range up to the highest key has no end.
   *
   * @param key reused for the next element
   * @param counter what matched it; zeros if it does not count
   */
  void element(byte[] key, boolean end, Counter counter);
}
