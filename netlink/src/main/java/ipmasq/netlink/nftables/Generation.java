package ipmasq.netlink.nftables;

/**
 * The number of the ruleset of a network namespace: every commit by anybody changes it. Equal
 * numbers mean that nothing in nf_tables changed.
 *
 * <p>The kernel's answer also names a process, but that is the one asking, not the one that
 * committed last.
 */
public record Generation(int id) {
  @Override
  public String toString() {
    return Integer.toUnsignedString(id);
  }
}
