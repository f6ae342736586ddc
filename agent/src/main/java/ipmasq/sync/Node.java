package ipmasq.sync;

import ipmasq.config.Config.BackendChoice;

/**
 * The facts about this node that decide which backend to use.
 *
 * @param windows whether this is a Windows node, where only the CNI backend works
 * @param kubeProxyNftables whether kube-proxy keeps its rules in nftables
 * @param iptablesFault why iptables cannot hold our rules; empty if it can, as far as known
 * @param nftables whether nf_tables answers; checked only if iptables cannot hold our rules
 */
public record Node(
    boolean windows, boolean kubeProxyNftables, String iptablesFault, boolean nftables) {

  /**
   * A backend, and why that one.
   *
   * @param reason for people, in parentheses after the backend's name
   */
  public record BackendDecision(BackendChoice backend, String reason) {}

  /** The backend for a config that asks for this one. */
  public BackendDecision choose(BackendChoice asked) {
    return asked == BackendChoice.AUTO ? auto() : new BackendDecision(asked, "as configured");
  }

  /** Follows the node, so that its programs and operators find the rules where they look. */
  public BackendDecision auto() {
    if (windows) {
      return new BackendDecision(BackendChoice.CNI, "the only way on Windows");
    }
    if (kubeProxyNftables) {
      return new BackendDecision(BackendChoice.NFTABLES, "kube-proxy runs in nftables mode");
    }
    if (iptablesFault.isEmpty()) {
      return new BackendDecision(BackendChoice.IPTABLES, "the node's default");
    }
    return nftables
        ? new BackendDecision(
            BackendChoice.NFTABLES, "iptables cannot hold our rules: " + iptablesFault)
        : new BackendDecision(
            BackendChoice.IPTABLES,
            "nftables does not answer, and iptables cannot hold our rules: " + iptablesFault);
  }
}
