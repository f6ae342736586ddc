package ipmasq.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.hook.Flow;
import ipmasq.hook.Hook;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Namespace;
import ipmasq.testkit.Probe;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Rules that ask ipsets, whose content changes unannounced, with packets as the witness. */
@KernelTest
@Timeout(120)
class NatHooksTest {
  @Test
  void anIpsetIsReadAgain() {
    try (Lab lab = Lab.open()) {
      NatHooks hooks = new NatHooks();
      Namespace node = lab.node();
      node.run("ipset", "create", "some", "hash:net").ok();
      assertTranslated(lab, hooks, "203.0.113.7", false);
      assertFalse(hooks.hasIpsets());

      rule(node, "iptables-nft");
      assertTranslated(lab, hooks, "203.0.113.7", false);
      assertTrue(hooks.hasIpsets());
      node.run("ipset", "add", "some", "203.0.113.0/24").ok();
      assertTranslated(lab, hooks, "203.0.113.7", true);

      node.run("nft", "flush", "ruleset").ok();
      assertTranslated(lab, hooks, "203.0.113.7", false);
      assertFalse(hooks.hasIpsets());
    }
  }

  @Test
  void ipsetsOfIpv6() {
    for (String program : List.of("ip6tables-nft", "ip6tables-legacy")) {
      try (Lab lab = Lab.open()) {
        NatHooks hooks = new NatHooks();
        lab.node().run("ipset", "create", "some", "hash:ip", "family", "inet6").ok();
        lab.node().run("ipset", "add", "some", "2001:db8:113::7").ok();
        rule(lab.node(), program);
        assertTranslated(lab, hooks, "2001:db8:113::7", true);
        assertTranslated(lab, hooks, "2001:db8:113::8", false);
        assertTrue(hooks.hasIpsets());
      }
    }
  }

  private static void rule(Namespace node, String program) {
    node.run(
            (program + " -t nat -A POSTROUTING -m set --match-set some dst -j MASQUERADE")
                .split(" "))
        .ok();
  }

  private static void assertTranslated(Lab lab, NatHooks hooks, String to, boolean translated) {
    Ip ip = Ip.of(to);
    InetAddress pod = Lab.POD.like(InetAddress.ofLiteral(to));
    Family family = ip.family();
    Hook hook = lab.node().call(() -> hooks.at(family, "nftables", "ANY", Optional.empty()));
    Flow flow =
        Flow.to(ip)
            .from(Ip.ofBytes(pod.getAddress()), false, Optional.of("pod0"))
            .via(List.of("eth0"));
    assertEquals(translated ? "translated" : "kept", hook.actual(flow).word());
    assertEquals(translated, !lab.send(Probe.udp(to)).source().equals(pod));
  }
}
