package ipmasq.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.backend.Choice.Signs;
import ipmasq.backend.Choice.Which;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class ChoiceTest {
  private static final BooleanSupplier NOT_ASKED =
      () -> {
        throw new AssertionError("the kernel was asked for nothing");
      };

  @Test
  void itFollowsKubeProxy() {
    assertEquals(
        new Choice(Which.NFTABLES, "kube-proxy runs in nftables mode"),
        Choice.of(new Signs(true, true, true, NOT_ASKED)));
  }

  @Test
  void whereIptablesWorksItIsTaken() {
    assertEquals(
        new Choice(Which.IPTABLES, "it is what the node uses"),
        Choice.of(new Signs(false, true, true, NOT_ASKED)));
  }

  @Test
  void withoutItNftablesIsTaken() {
    assertEquals(
        new Choice(Which.NFTABLES, "there is no iptables on PATH"),
        Choice.of(new Signs(false, false, true, () -> true)));
    assertEquals(
        new Choice(Which.NFTABLES, "iptables does not work here"),
        Choice.of(new Signs(false, true, false, () -> true)));
  }

  @Test
  void whereNothingWorksItSaysSo() {
    assertEquals(
        new Choice(Which.IPTABLES, "nftables does not work here either"),
        Choice.of(new Signs(false, false, true, () -> false)));
  }
}
