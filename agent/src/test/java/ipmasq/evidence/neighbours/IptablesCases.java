package ipmasq.evidence.neighbours;

import static ipmasq.evidence.neighbours.Others.iptables;

import ipmasq.evidence.neighbours.Others.Case;
import ipmasq.evidence.neighbours.Others.Tool;
import java.util.List;
import java.util.stream.Stream;

/** Rules that people write with iptables. */
final class IptablesCases {
  private IptablesCases() {}

  static Stream<Case> cases() {
    return Stream.of(
        iptables("nobody else", "", ""),
        iptables(
            "MASQUERADE of everything before ours",
            "-A POSTROUTING -j MASQUERADE\n",
            "",
            "masquerades OTHER"),
        iptables(
            "MASQUERADE of everything after ours",
            "",
            "-A POSTROUTING -o eth0 -j MASQUERADE\n",
            "masquerades OTHER"),
        iptables(
            "an ACCEPT before ours",
            "-A POSTROUTING -s 10.244.0.0/16 -j ACCEPT\n",
            "",
            "shields OTHER"),
        iptables("tcp only", "", "-A POSTROUTING -p tcp -j MASQUERADE\n", "masquerades OTHER"),
        new Case(
            "MASQUERADE in iptables-legacy",
            Tool.LEGACY_IPTABLES,
            "",
            "-A POSTROUTING -d 172.20.0.0/16 -j MASQUERADE\n",
            List.of("masquerades OTHER"),
            List.of(),
            true),
        new Case(
            "matches that nobody can judge from here",
            Tool.NFT_IPTABLES,
            "",
            "-A POSTROUTING -m statistic --mode random --probability 0.5 -j MASQUERADE\n",
            List.of("unclear OTHER"),
            List.of(),
            false),
        iptables(
            "states, ranges and ports",
            "",
            """
            -A POSTROUTING -m conntrack --ctstate RELATED,ESTABLISHED -j MASQUERADE
            -A POSTROUTING -p udp -m multiport --dports 53,80:90 -m iprange --dst-range 172.20.0.0-172.20.0.9 -j MASQUERADE
            -A POSTROUTING -p udp -m multiport ! --dports 53,80:90 -m conntrack --ctstate NEW -m iprange --dst-range 172.20.0.0-172.20.0.9 -j SNAT --to-source 192.0.2.10
            """,
            "masquerades OTHER"),
        iptables(
            "a goto before ours",
            """
            :LOGGED - [0:0]
            -A POSTROUTING -o eth0 -g LOGGED
            -A LOGGED -m limit --limit 1/min -j LOG
            """,
            "",
            "shields OTHER"),
        new Case(
            "a RETURN that nobody can judge",
            Tool.NFT_IPTABLES,
            "",
            """
            :MQ - [0:0]
            -A POSTROUTING -j MQ
            -A MQ -m u32 --u32 "0x10>>0x18=0xa" -j RETURN
            -A MQ -m u32 --u32 "0x10>>0x18=0xac" -j RETURN
            -A MQ -o eth0 -j MASQUERADE
            """,
            List.of("unclear OTHER"),
            List.of(),
            false),
        new Case(
            "flows that iptables does not track",
            Tool.NFT_IPTABLES,
            """
            COMMIT
            *raw
            -A PREROUTING -d 203.0.113.0/24 -j CT --notrack
            """,
            "",
            List.of("keeps OTHER"),
            List.of("keeps OTHER"),
            true),
        new Case(
            "SNAT to ports alone keeps the source",
            Tool.NFT_IPTABLES,
            "-A POSTROUTING -p udp -j SNAT --to-source :4000-5000\n",
            "",
            List.of("keeps OTHER"),
            List.of("keeps OTHER"),
            true),
        new Case(
            "SNAT to ports alone in iptables-legacy",
            Tool.LEGACY_IPTABLES,
            "-A POSTROUTING -p udp -j SNAT --to-source :4000-5000\n",
            "",
            List.of("keeps OTHER"),
            List.of("keeps OTHER"),
            false),
        iptables(
            "unicast destinations",
            "",
            """
            -A POSTROUTING -m addrtype ! --dst-type UNICAST -j ACCEPT
            -A POSTROUTING -d 172.20.0.0/16 -m addrtype --dst-type UNICAST -j MASQUERADE
            """,
            "masquerades OTHER"),
        iptables(
            "fragments, of which connection tracking leaves none",
            "",
            """
            -A POSTROUTING -f -j MASQUERADE
            -A POSTROUTING -d 172.20.0.0/16 ! -f -j MASQUERADE
            """,
            "masquerades OTHER"),
        iptables(
            "two conditions that returned before",
            "",
            """
            -A POSTROUTING -s 10.244.0.0/16 -o eth0 -d 10.0.0.0/8 -j RETURN
            -A POSTROUTING -s 10.244.0.0/16 -o eth0 -d 172.20.0.0/16 -j RETURN
            -A POSTROUTING -s 10.244.0.0/16 -o eth0 -d 169.254.0.0/16 -j RETURN
            -A POSTROUTING -s 10.244.0.0/16 -o eth0 -j MASQUERADE
            """));
  }
}
