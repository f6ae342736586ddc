package ipmasq.hook.nftables;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.hook.BaseChain;
import ipmasq.hook.Rule;
import ipmasq.hook.ipset.ForeignIpsets;
import ipmasq.net.Family;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Namespace;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Rules of nft, read over netlink, print as {@code nft list} does; anonymous sets by their name.
 */
@KernelTest
class NftTextTest {
  private static final String RULES =
      """
      ip saddr . ip daddr @pairs masquerade
      ip saddr . ip daddr != @pairs masquerade
      ip saddr . ip daddr @pairs ip daddr @one ip saddr @one return
      ip saddr & 255.255.255.0 == @one masquerade
      ip saddr & 255.0.255.0 == 10.0.1.0 return
      meta mark & 0x0000000f . ip daddr @marked return
      oifname . ip daddr { "eth0" . 10.0.0.1, "eth1" . 10.0.0.1 } return
      meta l4proto . th dport vmap @verdicts
      meta l4proto . th dport vmap { tcp . 80 : jump other, udp . 53 : return }
      meta l4proto tcp masquerade to :1024-2000
      meta l4proto tcp masquerade to :1024-2000 random
      masquerade random
      masquerade fully-random
      masquerade random,persistent
      masquerade fully-random,persistent
      snat to 192.0.2.1-192.0.2.9 random
      meta l4proto tcp snat to 192.0.2.1:1000-2000 persistent
      meta l4proto tcp snat to :1000-2000 fully-random,persistent
      snat to ip saddr map @to
      snat to ip saddr & 255.255.255.0 map @to
      snat to ip saddr . ip daddr map @between
      meta mark & 0x0000000f == 0x00000001 return
      meta mark set meta mark | 0x00004000
      meta mark set meta mark & 0xffff00ff
      meta mark set meta mark & 0x0000000f | 0x00000010
      meta mark set meta mark ^ 0x00000010
      """;

  private static final String TABLE =
      """
      table ip mine {
        set pairs { type ipv4_addr . ipv4_addr; elements = { 10.0.0.1 . 10.0.0.2 }; }
        set one { type ipv4_addr; elements = { 10.0.0.1 }; }
        set marked { type mark . ipv4_addr; elements = { 1 . 10.0.0.1 }; }
        map to { type ipv4_addr : ipv4_addr; elements = { 10.0.0.1 : 192.0.2.1 }; }
        map between {
          type ipv4_addr . ipv4_addr : ipv4_addr; elements = { 10.0.0.1 . 10.0.0.2 : 192.0.2.1 };
        }
        map verdicts { type inet_proto . inet_service : verdict; elements = { tcp . 80 : return }; }
        chain other { }
        chain post {
          type nat hook postrouting priority 100;
      %s  }
      }
      """;

  @Test
  void asTheToolDoes() {
    try (Namespace node = Namespace.open("text")) {
      node.feed(TABLE.formatted(RULES), "nft", "-f", "-").ok();
      List<String> listed =
          node.nft("list", "chain", "ip", "mine", "post")
              .lines()
              .map(String::strip)
              .dropWhile(line -> !line.startsWith("type nat"))
              .skip(1)
              .takeWhile(line -> !line.equals("}"))
              .map(line -> line.replaceAll("\\{.*}", "@anonymous"))
              .toList();
      BaseChain chain =
          node.call(
                  () ->
                      ForeignChains.postrouting(
                          new BaseChains(),
                          ForeignIpsets.unread(),
                          Family.IPV4,
                          Optional.empty(),
                          false))
              .getFirst();
      List<String> printed =
          chain.chains().rules("post").orElseThrow().stream()
              .map(Rule::text)
              .map(text -> text.replaceAll("@__(set|map)[0-9]+", "@anonymous"))
              .distinct() // a map is one rule per element
              .toList();
      assertEquals(String.join("\n", listed), String.join("\n", printed));
    }
  }
}
