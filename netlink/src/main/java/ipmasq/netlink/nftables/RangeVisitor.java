package ipmasq.netlink.nftables;

/** Takes the ranges of a set. */
@FunctionalInterface
public interface RangeVisitor {
  /** A range, both ends included; the arrays are reused for the next. */
  void range(byte[] first, byte[] last);
}
