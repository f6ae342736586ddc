package ipmasq.netlink.nftables;

/**
 * The number of the ruleset of a network namespace: any commit by anybody makes it another. Equal
 * numbers mean that nothing in nf_tables changed.
 *
 * <p>The kernel's answer also names a process, but that is the one that asks, not the one that
 * changed something last.
 */
public record Generation(int id) {
  @Override
  public String toString() {
    return Integer.toUnsignedString(id);
  }
}
