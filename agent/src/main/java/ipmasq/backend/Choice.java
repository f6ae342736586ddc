package ipmasq.backend;

import java.util.function.BooleanSupplier;

/**
 * Which way to the kernel, and why, for people.
 *
 * @param reason completes the sentence "nftables, because …"
 */
public record Choice(Which backend, String reason) {
  /** The ways there are. */
  public enum Which {
    IPTABLES,
    NFTABLES,
    CNI
  }

  /**
   * What the node shows.
   *
   * @param kubeProxyNftables whether kube-proxy keeps its rules in nftables
   * @param iptablesInstalled whether there is an iptables to run
   * @param iptablesWorks whether it has worked, or has not been tried often enough to tell
   * @param nftablesWorks asks the kernel; asked only where it matters
   */
  public record Signs(
      boolean kubeProxyNftables,
      boolean iptablesInstalled,
      boolean iptablesWorks,
      BooleanSupplier nftablesWorks) {}

  /** Chosen by flag or file. */
  public static Choice told(Which backend) {
    return new Choice(backend, "as configured");
  }

  /** Follows the node: its rules are where its other programs, and its people, look for them. */
  public static Choice of(Signs signs) {
    if (signs.kubeProxyNftables) {
      return new Choice(Which.NFTABLES, "kube-proxy runs in nftables mode");
    }
    if (signs.iptablesInstalled && signs.iptablesWorks) {
      return new Choice(Which.IPTABLES, "it is what the node uses");
    }
    if (signs.nftablesWorks.getAsBoolean()) {
      return new Choice(
          Which.NFTABLES,
          signs.iptablesInstalled ? "iptables does not work here" : "there is no iptables on PATH");
    }
    return new Choice(Which.IPTABLES, "nftables does not work here either");
  }
}
