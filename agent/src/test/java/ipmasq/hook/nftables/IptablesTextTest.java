package ipmasq.hook.nftables;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.hook.BaseChain;
import ipmasq.hook.Rule;
import ipmasq.net.Family;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Namespace;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Rules of iptables-nft, read over netlink, print as {@code iptables -S} does. */
@KernelTest
class IptablesTextTest {
  private static final List<String> RULES =
      List.of(
          "-A POSTROUTING -m comment --comment \"kubernetes postrouting rules\" -j OTHER",
          "-A POSTROUTING -s 10.244.0.0/16 ! -d 224.0.0.0/4 -m comment --comment \"flanneld masq\""
              + " -j MASQUERADE --random-fully",
          "-A POSTROUTING -s 172.17.0.0/16 ! -o docker0 -j MASQUERADE",
          "-A POSTROUTING -s 172.17.0.2/32 -d 172.17.0.2/32 -p tcp -m tcp --dport 80 -j MASQUERADE",
          "-A POSTROUTING ! -d 10.0.0.0/8 -m comment --comment \"kubenet: SNAT for outbound\""
              + " -m addrtype ! --dst-type LOCAL -j MASQUERADE",
          "-A POSTROUTING -o eth+ -p udp -m multiport --dports 53,80:90 -j ACCEPT",
          "-A POSTROUTING -m iprange --dst-range 10.0.0.1-10.0.0.9 -j SNAT --to-source 192.0.2.1",
          "-A POSTROUTING -m mark --mark 0x80/0x80 -g OTHER",
          "-A POSTROUTING -m addrtype --src-type LOCAL -j MASQUERADE",
          "-A POSTROUTING -m comment --comment one-word -j ACCEPT");

  @Test
  void asTheToolDoes() {
    try (Namespace node = Namespace.open("text")) {
      String text = "*nat\n:OTHER - [0:0]\n" + String.join("\n", RULES) + "\nCOMMIT\n";
      node.feed(text, "iptables-nft-restore").ok();
      BaseChain chain =
          node.call(
                  () ->
                      ForeignChains.postrouting(
                          new BaseChains(), Family.IPV4, Optional.empty(), false))
              .getFirst();
      List<String> printed = new ArrayList<>();
      for (Rule rule : chain.chains().rules("POSTROUTING").orElseThrow()) {
        printed.add(rule.text());
      }
      List<String> listed =
          node.run("iptables-nft", "-t", "nat", "-S", "POSTROUTING")
              .ok()
              .lines()
              .filter(line -> line.startsWith("-A"))
              .toList();
      assertEquals(String.join("\n", listed), String.join("\n", printed));
    }
  }
}
