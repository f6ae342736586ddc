package ipmasq.hook.nftables;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.hook.BaseChain;
import ipmasq.hook.HookPoint;
import ipmasq.hook.Rule;
import ipmasq.hook.ipset.ForeignIpsets;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Namespace;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Rules of iptables-nft, read over netlink, print as {@code iptables -S} does. */
@KernelTest
class IptablesTextTest {
  /** Rules that no first packet of a connection can match are not read, and so are not here. */
  private static final String RULES =
      """
      -m comment --comment "kubernetes postrouting rules" -j OTHER
      -s 10.244.0.0/16 ! -d 224.0.0.0/4 -m comment --comment "flanneld masq" -j MASQUERADE --random-fully
      -s 172.17.0.0/16 ! -o docker0 -j MASQUERADE
      -s 172.17.0.2/32 -d 172.17.0.2/32 -p tcp -m tcp --dport 80 -j MASQUERADE
      ! -d 10.0.0.0/8 -m comment --comment "kubenet: SNAT for outbound" -m addrtype ! --dst-type LOCAL -j MASQUERADE
      -o eth+ -p udp -m multiport --dports 53,80:90 -j ACCEPT
      -m iprange --dst-range 10.0.0.1-10.0.0.9 -j SNAT --to-source 192.0.2.1
      -m mark --mark 0x80/0x80 -g OTHER
      -m addrtype --src-type LOCAL -j MASQUERADE
      -m comment --comment one-word -j ACCEPT
      -m comment --comment cali -m set --match-set pools src -m set ! --match-set pools dst -j MASQUERADE --random-fully
      -s 10.244.0.0/16 -m set ! --match-set none dst -j MASQUERADE
      -m set --match-set ends dst,dst,src -m comment --comment x -j MASQUERADE
      -m set ! --match-set old src -j MASQUERADE
      -m comment --comment cali:O3lYWMrLQYEMJtB5 -m comment --comment "it's \\"quoted\\"" -j OTHER
      -m mark --mark 1 -m comment --comment between -m addrtype --dst-type LOCAL
      -p tcp -j MASQUERADE --to-ports 1024-65535
      -p udp -j MASQUERADE --to-ports 1024 --random-fully
      -j MASQUERADE --random
      -p tcp -j SNAT --to-source 198.51.100.30-198.51.100.40:1024-2000 --random
      -p tcp -j SNAT --to-source 198.51.100.30:1024 --persistent
      -j SNAT --to-source 198.51.100.30 --random-fully --persistent
      -p tcp -j SNAT --to-source :4000-5000
      -d 192.0.2.0/24 -j NETMAP --to 192.0.3.0/24
      -j NETMAP --to 192.0.2.1
      -d 10.9.0.0/16 -m conntrack --ctstate NEW -j MASQUERADE
      -m conntrack ! --ctstate INVALID,RELATED -j MASQUERADE
      -m conntrack --ctstate NEW,SNAT,DNAT,UNTRACKED,ESTABLISHED -j MASQUERADE
      -m conntrack --ctstate NEW ! --ctstatus CONFIRMED,EXPECTED,SEEN_REPLY,ASSURED -j MASQUERADE
      -m conntrack --ctproto 6 --ctorigsrc 10.0.0.0/8 ! --ctorigdst 1.2.3.4 --ctreplsrc 1.2.3.4 -j MASQUERADE
      -m conntrack --ctrepldst 10.0.0.0/16 --ctorigsrcport 10 --ctorigdstport 20:30 -j MASQUERADE
      -m conntrack ! --ctreplsrcport 10:12 --ctrepldstport 5 --ctexpire 10:20 --ctdir ORIGINAL -j MASQUERADE
      -m conntrack --ctdir REPLY ! --ctexpire 10 -j MASQUERADE
      -m state --state NEW,RELATED -j MASQUERADE
      -m state ! --state INVALID -j MASQUERADE
      -m addrtype --dst-type UNICAST -j MASQUERADE
      -m addrtype ! --src-type LOCAL,BROADCAST ! --dst-type MULTICAST -j MASQUERADE
      -m addrtype --dst-type LOCAL --limit-iface-out -j MASQUERADE
      -p tcp -m multiport --sports 1,2:3 -j MASQUERADE
      -p tcp -m multiport ! --ports 1,2:3 -j MASQUERADE
      -p tcp -m multiport --dports 80 -j MASQUERADE
      -p tcp --syn -j MASQUERADE
      -p tcp -m tcp ! --syn -j MASQUERADE
      -p tcp -m tcp --tcp-flags SYN,RST,ACK SYN -j MASQUERADE
      -p tcp -m tcp --tcp-flags ALL NONE -j MASQUERADE
      -p tcp -m tcp --sport 5 --dport 10:20 --tcp-flags SYN,ACK ACK --tcp-option 5 -j MASQUERADE
      -p tcp -m tcp ! --sport 5 ! --dport 10:20 -j MASQUERADE
      -p tcp -m tcp --sport 5: --dport :20 -j MASQUERADE
      -p tcp -m tcp ! --sport 5: ! --dport :20 -j MASQUERADE
      -p udp -m udp --sport 5 -m comment --comment x -j MASQUERADE
      -p tcp -m iprange ! --src-range 10.0.0.0-10.0.0.255 ! --dst-range 1.2.3.4-1.2.3.5 -m tcp --dport 1 -j MASQUERADE
      -j CONNMARK --restore-mark
      -j CONNMARK --save-mark --nfmask 0xff --ctmask 0xf
      -j CONNMARK --set-mark 0x5/0xff
      -j CONNMARK --restore-mark --right-shift-mark 5
      -j MARK --set-mark 0x5
      -j MARK --or-mark 0x5
      -m mark ! --mark 0x5 -j MASQUERADE
      -m connmark --mark 0x5/0xf -j MASQUERADE
      -m connmark ! --mark 0x5 -j MASQUERADE
      -m statistic --mode random --probability 0.5 -j MASQUERADE
      -m statistic --mode random ! --probability 0.33333333349 -j MASQUERADE
      -m statistic --mode nth --every 3 --packet 1 -j MASQUERADE
      -m length --length 40:100 -j MASQUERADE
      -m length ! --length 40 -j MASQUERADE
      -m pkttype ! --pkt-type multicast -j MASQUERADE
      -m owner --uid-owner 1000 -j MASQUERADE
      -m owner ! --uid-owner 1000-2000 ! --gid-owner 5 --suppl-groups -j MASQUERADE
      -m owner --socket-exists -j MASQUERADE
      -m physdev --physdev-in eth0 ! --physdev-is-bridged -j MASQUERADE
      -m policy --dir out --pol none -j MASQUERADE
      -m policy --dir out --pol ipsec -j MASQUERADE
      -m dscp --dscp 0x8 -j MASQUERADE
      -m tos ! --tos 0x10/0x3f -j MASQUERADE
      -m ttl --ttl-gt 5 -j MASQUERADE
      -m ttl ! --ttl-eq 5 -j MASQUERADE
      -m cpu --cpu 1 -j MASQUERADE
      -p icmp -m icmp --icmp-type 8 -j MASQUERADE
      -p icmp -m icmp ! --icmp-type 8/0 -j MASQUERADE
      -p icmp -m icmp --icmp-type any -j MASQUERADE
      -p tcp ! -f -j MASQUERADE
      ! -p tcp -j MASQUERADE
      -p esp -j MASQUERADE
      -p 99 -j MASQUERADE
      -s 10.0.0.0/255.0.255.0 ! -d 10.64.0.0/10 -j MASQUERADE
      -j LOG --log-prefix "a b: " --log-level 6 --log-uid
      -j LOG
      -j TRACE
      -j CLASSIFY --set-class 1:5
      -j RETURN
      """;

  private static final String RULES_OF_IPV6 =
      """
      -s fd00:10::/64 ! -d fd00::/8 -o eth0 -j MASQUERADE --random-fully
      -d fd00::1/128 -p tcp -j MASQUERADE --to-ports 1024-2000
      -p tcp -j SNAT --to-source [2001:db8::1-2001:db8::9]:1024-2000 --random
      -j SNAT --to-source 2001:db8::1 --persistent
      -p udp -j SNAT --to-source :4000
      -d fd00:1::/64 -j NETMAP --to fd00:2::/64
      -j NETMAP --to fd00:2::1
      -p ipv6-icmp -m icmp6 --icmpv6-type 128 -j MASQUERADE
      -p ipv6-icmp -m icmp6 ! --icmpv6-type 1/4 -j MASQUERADE
      -m conntrack --ctstate NEW --ctorigdst fd00::/8 -j MASQUERADE
      -m addrtype --dst-type UNICAST -j MASQUERADE
      -m iprange --src-range fd00::1-fd00::9 -j MASQUERADE
      """;

  private static final String RULES_OF_PREROUTING =
      """
      -i eth+ -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.0.0.1-10.0.0.2:8080-8090 --random --persistent
      -d 192.0.2.1/32 -j DNAT --to-destination 10.0.0.1
      ! -i lo -p tcp -j REDIRECT --to-ports 80-90 --random
      """;

  @Test
  void asTheToolDoes() {
    assertAsTool("iptables-nft", Family.IPV4, "POSTROUTING", RULES);
  }

  @Test
  void asTheToolDoesForIpv6() {
    assertAsTool("ip6tables-nft", Family.IPV6, "POSTROUTING", RULES_OF_IPV6);
  }

  @Test
  void asTheToolDoesBeforeRouting() {
    assertAsTool("iptables-nft", Family.IPV4, "PREROUTING", RULES_OF_PREROUTING);
  }

  private static void assertAsTool(String tool, Family family, String chain, String rules) {
    try (Namespace node = Namespace.open("text")) {
      load(node, tool, chain, rules);
      List<String> listed =
          node.run(tool, "-t", "nat", "-S", chain)
              .ok()
              .lines()
              .filter(line -> line.startsWith("-A"))
              .toList();
      assertEquals(String.join("\n", listed), String.join("\n", printed(node, family, chain)));
    }
  }

  /** The rest is not there, and nobody takes the text for complete. */
  @Test
  void whatIsNotKnownIsLeftOut() {
    try (Namespace node = Namespace.open("text")) {
      load(
          node,
          "iptables-nft",
          "POSTROUTING",
          """
          -s 10.0.0.0/8 -m limit --limit 10/sec -j MASQUERADE
          -m string --string foo --algo bm -m mark --mark 1 -j MASQUERADE
          -m policy --dir out --pol ipsec --strict --reqid 5 --proto esp -j MASQUERADE
          -m set ! --match-set old src --packets-gt 3 -j MASQUERADE
          -j NFLOG --nflog-group 5
          -j SET --add-set old src
          -j TEE --gateway 192.0.2.1
          """);
      assertEquals(
          """
          -A POSTROUTING -s 10.0.0.0/8 -m limit … -j MASQUERADE
          -A POSTROUTING -m string … -m mark --mark 0x1 -j MASQUERADE
          -A POSTROUTING -m policy --dir out --pol ipsec --strict … -j MASQUERADE
          -A POSTROUTING -m set ! --match-set old src … -j MASQUERADE
          -A POSTROUTING -j NFLOG …
          -A POSTROUTING -j SET …
          -A POSTROUTING -j TEE …
          """,
          String.join("\n", printed(node, Family.IPV4, "POSTROUTING")) + "\n");
    }
  }

  private static final String IPSETS =
      """
      create pools hash:net
      add pools 10.244.0.0/16
      create none hash:ip
      create ends hash:ip,port,ip
      add ends 10.244.1.2,tcp:80,10.244.1.2
      create old hash:ip timeout 600 counters
      """;

  private static void load(Namespace node, String tool, String chain, String rules) {
    node.feed(IPSETS, "ipset", "restore").ok();
    StringBuilder text = new StringBuilder("*nat\n:OTHER - [0:0]\n");
    rules.lines().forEach(rule -> text.append("-A ").append(chain + " " + rule + "\n"));
    node.feed(text + "COMMIT\n", tool + "-restore").ok();
  }

  private static List<String> printed(Namespace node, Family family, String name) {
    BaseChain chain =
        node.call(
                () -> {
                  try (ForeignIpsets ipsets = ForeignIpsets.ofKernel()) {
                    return name.equals("PREROUTING")
                        ? ForeignChains.services(
                            new BaseChains(), ipsets, Ip.of("192.0.2.1"), HookPoint.PREROUTING)
                        : ForeignChains.postrouting(
                            new BaseChains(), ipsets, family, Optional.empty(), false);
                  }
                })
            .getFirst();
    List<String> printed = new ArrayList<>();
    for (Rule rule : chain.chains().rules(name).orElseThrow()) {
      printed.add(rule.text());
    }
    return printed;
  }
}
