package ipmasq.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.config.Config.BackendChoice;
import ipmasq.sync.Node.BackendDecision;
import org.junit.jupiter.api.Test;

class NodeTest {
  @Test
  void itFollowsKubeProxy() {
    assertEquals(
        new BackendDecision(BackendChoice.NFTABLES, "kube-proxy runs in nftables mode"),
        new Node(false, true, "", false).auto());
  }

  @Test
  void whereIptablesCanHoldOurRulesItIsTaken() {
    assertEquals(
        new BackendDecision(BackendChoice.IPTABLES, "the node's default"),
        new Node(false, false, "", false).auto());
  }

  @Test
  void whereItCannotNftablesIsTaken() {
    assertEquals(
        new BackendDecision(
            BackendChoice.NFTABLES, "iptables cannot hold our rules: there is none on PATH"),
        new Node(false, false, "there is none on PATH", true).auto());
  }

  @Test
  void whereNothingWorksItSaysSo() {
    assertEquals(
        new BackendDecision(
            BackendChoice.IPTABLES,
            "nftables does not answer, and iptables cannot hold our rules: none"),
        new Node(false, false, "none", false).auto());
  }

  @Test
  void onWindowsThereIsOneWay() {
    assertEquals(BackendChoice.CNI, new Node(true, true, "", true).auto().backend());
  }
}
