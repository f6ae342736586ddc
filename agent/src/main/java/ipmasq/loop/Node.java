package ipmasq.loop;

import ipmasq.config.Config.BackendChoice;

/**
 * What this node is, as far as it decides where rules go.
 *
 * @param windows whether only CNI configs can be kept here
 * @param kubeProxyNftables whether kube-proxy keeps its rules in nftables
 * @param iptablesFault why iptables cannot hold our rules; empty: it can, as far as is known
 * @param nftables whether nf_tables answers; looked at only where iptables cannot
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

  /** Follows the node: its rules are where its other programs, and its people, look for them. */
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
