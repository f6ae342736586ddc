package ipmasq.netlink.nftables;

/** Takes the elements of a set as the kernel holds them. */
@FunctionalInterface
public interface ElementVisitor {
  /**
   * An element. A range is two of them: its first key, and with {@code end} the key after its last;
   * the latter is missing where there is no key after it.
   *
   * @param key used again for the next
   * @param counter what matched it; zeros where it does not count
   */
  void element(byte[] key, boolean end, Counter counter);
}
