package ipmasq.backend.iptables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.iptables.LegacyTables;
import ipmasq.net.Family;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Namespace;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What the watch of iptables-legacy sees of a table, and what it does not ask for. */
@KernelTest
class LegacyWatchTest {
  /** Some 250 bytes each, so that the table counts as large. */
  private static final int RULES = 1_000;

  private static void iptables(Namespace node, String words) {
    node.run(("iptables-legacy -w -t nat " + words).split(" ")).ok();
  }

  @Test
  void noTableIsMadeByLooking() {
    try (Namespace node = Namespace.open("node")) {
      LegacyWatch watch = new LegacyWatch();
      Optional<Object> without = node.call(watch::freshFingerprint);
      assertTrue(without.isPresent());
      LegacyTables tables = LegacyTables.ofKernel();
      assertEquals(
          LegacyTables.Presence.NOT_THERE, node.call(() -> tables.look(Family.IPV4, "nat")));
      iptables(node, "-N SOME");
      Eventually.within(
          Duration.ofSeconds(20),
          "the new table",
          () -> node.call(watch::fingerprint),
          now -> !now.equals(without));
    }
  }

  @Test
  void aReplacedRuleOfALargeTableShowsInAFreshLook() {
    try (Namespace node = Namespace.open("node")) {
      StringBuilder services = new StringBuilder("*nat\n:KUBE-SVC - [0:0]\n");
      for (int i = 0; i < RULES; i++) {
        services.append("-A KUBE-SVC -p tcp -m tcp --dport ").append(i + 1).append(" -j ACCEPT\n");
      }
      services.append("-A POSTROUTING -s 10.1.0.0/16 -j ACCEPT\nCOMMIT\n");
      node.feed(services.toString(), "iptables-legacy-restore", "-w").ok();
      LegacyWatch watch = new LegacyWatch();
      Optional<Object> first = node.call(watch::fingerprint);
      iptables(node, "-R POSTROUTING 1 -s 10.2.0.0/16 -j ACCEPT");
      assertEquals(first, node.call(watch::fingerprint));
      assertNotEquals(first, node.call(watch::freshFingerprint));
      // Rules of services do not lead from postrouting, however many come and go.
      Optional<Object> second = node.call(watch::fingerprint);
      iptables(node, "-A KUBE-SVC -p udp -j ACCEPT");
      assertEquals(second, node.call(watch::freshFingerprint));
      iptables(node, "-A POSTROUTING -j KUBE-SVC");
      Eventually.within(
          Duration.ofSeconds(20),
          "another fingerprint",
          () -> node.call(watch::fingerprint),
          now -> !now.equals(second));
    }
  }
}
