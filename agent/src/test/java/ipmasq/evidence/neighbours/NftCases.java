package ipmasq.evidence.neighbours;

import static ipmasq.evidence.neighbours.Others.nft;

import ipmasq.evidence.neighbours.Others.Case;
import ipmasq.evidence.neighbours.Others.Tool;
import java.util.List;
import java.util.stream.Stream;

/** Rules that people write with nft. */
final class NftCases {
  private NftCases() {}

  static Stream<Case> cases() {
    return Stream.of(
        nft(
            "interfaces by number",
            """
            table ip mine { chain post { type nat hook postrouting priority 90; iif pod0 oif eth0 ip daddr 10.0.0.0/8 masquerade;
                iif lo ip daddr 172.16.0.0/12 masquerade
              }
            }
            """,
            "masquerades OTHER"),
        nft(
            "a pool of addresses",
            """
            table ip mine { chain post { type nat hook postrouting priority 90; ip daddr 10.0.0.0/8 snat to 192.0.2.70-192.0.2.79;
              }
            }
            """,
            "masquerades OTHER"),
        nft(
            "a native chain at a lower priority",
            """
            table ip mine { chain post { type nat hook postrouting priority 90; ip daddr 172.20.0.0/16 masquerade;
              }
            }
            """,
            "masquerades OTHER"),
        nft(
            "a native chain at a higher priority",
            """
            table ip mine { chain post { type nat hook postrouting priority 110; ip saddr 10.244.0.0/16 ip daddr != { 10.244.0.0/16, 224.0.0.0/4 } masquerade;
              }
            }
            """,
            "masquerades OTHER"),
        nft(
            "a native accept protects nobody",
            """
            table ip mine { chain post { type nat hook postrouting priority 90; accept;
              }
            }
            """),
        nft(
            "an identity SNAT pins the source",
            """
            table ip mine { chain post { type nat hook postrouting priority 90; ip daddr 172.20.0.0/16 snat to ip saddr;
              }
              chain late { type nat hook postrouting priority 120; ip daddr 172.20.0.0/16 masquerade;
              }
            }
            """),
        new Case(
            "a map of a pod's address to itself",
            Tool.NFT,
            """
            table ip mine { chain post { type nat hook postrouting priority 90; snat to ip saddr map { 10.244.1.2 : 10.244.1.2 };
              }
            }
            """,
            "",
            List.of("unclear OTHER", "unclear-shields OTHER"),
            List.of("unclear-shields OTHER"),
            false),
        nft(
            "a table for both families, by interface",
            """
            table inet mine { chain post { type nat hook postrouting priority 120; oifname "eth*" meta nfproto ipv4 masquerade; oifname "wlan0" masquerade;
              }
            }
            """,
            "masquerades OTHER"),
        new Case(
            "a native chain before ours that pins",
            Tool.NFT,
            """
            table ip mine { chain post { type nat hook postrouting priority 80; ip daddr 172.20.0.0/16 masquerade;
              }
              chain late { type nat hook postrouting priority 120; ip daddr 10.0.0.0/8 masquerade;
              }
            }
            """,
            "",
            List.of("masquerades OTHER"),
            List.of("masquerades OTHER"),
            true),
        nft(
            "a verdict map",
            """
            table ip mine {
              chain out {
                masquerade
              }
              chain post { type nat hook postrouting priority 120; meta l4proto vmap { tcp : accept, udp : jump out };
              }
            }
            """,
            "masquerades OTHER"),
        nft(
            "a dormant table",
            """
            table ip mine { flags dormant; chain post { type nat hook postrouting priority 90; masquerade;
              }
            }
            """),
        nft(
                "ranges, interfaces by index, a named counter, a map of sources",
                """
            table ip mine {
              counter seen { }
              map to { type ipv4_addr : ipv4_addr; elements = { 10.244.1.2 : 192.0.2.10, 10.244.1.3 : 192.0.2.11 };
              }
              chain post { type nat hook postrouting priority 90; oif "lo" masquerade; ip daddr 10.99.0.0-10.99.0.9 oif "eth0" counter name seen snat to ip saddr map @to;
              }
            }
            """,
                "unclear OTHER")
            .untellable(),
        nft(
            "an interface that does not exist",
            """
            table ip mine { chain post { type nat hook postrouting priority 90; oifname "wg0" masquerade; oifname != "ovn-k8s-mp0" return; snat to 192.0.2.10;
              }
            }
            """),
        new Case(
            "flows that are not tracked",
            Tool.NFT,
            """
            table ip mine { chain pre { type filter hook prerouting priority raw; ip daddr 203.0.113.0/24 notrack;
              }
            }
            """,
            "",
            List.of("keeps OTHER"),
            List.of("keeps OTHER"),
            true),
        new Case(
            "a nat chain that drops",
            Tool.NFT,
            """
            table ip mine { chain post { type nat hook postrouting priority 90; ip daddr 198.51.100.0/24 drop;
              }
            }
            """,
            "",
            List.of("drops OTHER"),
            List.of("drops OTHER"),
            true),
        new Case(
            "a set that rules fill",
            Tool.NFT,
            """
            table ip mine {
              set some { type ipv4_addr; flags dynamic,timeout;
              }
              chain pre { type filter hook prerouting priority 0; ip daddr 10.99.0.1 add @some { ip daddr };
              }
              chain post { type nat hook postrouting priority 90; ip daddr @some masquerade;
              }
            }
            """,
            "",
            List.of("unclear OTHER"),
            List.of(),
            false),
        new Case(
            "a prefix for a prefix",
            Tool.NFT,
            """
            table ip mine { chain post { type nat hook postrouting priority 90; snat ip prefix to ip saddr map { 10.244.0.0/16 : 192.0.0.0/16 };
              }
            }
            """,
            "",
            List.of("unclear OTHER", "unclear-shields OTHER"),
            List.of("unclear-shields OTHER"),
            false),
        new Case(
            "another port at most",
            Tool.NFT,
            """
            table ip mine { chain post { type nat hook postrouting priority 90; ip daddr 203.0.113.0/24 meta l4proto udp snat to :1024-65535;
              }
            }
            """,
            "",
            List.of("keeps OTHER"),
            List.of("keeps OTHER"),
            true),
        new Case(
            "the element for all other keys",
            Tool.NFT,
            """
            table ip mine {
              chain skip { return;
              }
              chain masq { masquerade;
              }
              chain post { type nat hook postrouting priority 90; ip daddr vmap { 10.99.0.0/16 : jump skip, * : jump masq };
              }
            }
            """,
            "",
            List.of("masquerades OTHER"),
            List.of(),
            true),
        nft(
            "a mark that is set before the match",
            """
            table ip mine { chain post { type nat hook postrouting priority 90; meta mark set 0x1 ip daddr 1.1.1.1 accept; meta mark 0x1 masquerade;
              }
            }
            """,
            "masquerades OTHER"),
        new Case(
            "marks within a set, set by a firewall",
            Tool.NFT,
            """
            table ip mine {
              chain fw { type filter hook forward priority 0; ip daddr 10.99.0.0/16 meta mark set 0x1;
              }
              chain post { type nat hook postrouting priority 90; meta mark { 0x1, 0x2 } masquerade;
              }
            }
            """,
            "",
            List.of("unclear OTHER"),
            List.of(),
            false),
        new Case(
            "a mark set where packets come in",
            Tool.NFT,
            """
            table netdev mine { chain in { type filter hook ingress device "pod0" priority 0; meta mark set 0x1;
              }
            }
            table ip mine { chain post { type nat hook postrouting priority 90; meta mark 0x1 masquerade;
              }
            }
            """,
            "",
            List.of("unclear OTHER"),
            List.of(),
            false),
        nft(
            "a source whose exempt packets returned before",
            """
            table ip mine { chain post { type nat hook postrouting priority 90; ip saddr 10.244.0.0/16 ip daddr { 10.0.0.0/8, 169.254.0.0/16, 172.20.0.0/16 } return; ip saddr 10.244.0.0/16 masquerade;
              }
            }
            """),
        nft(
            "exempt packets accepted in a chain below",
            """
            table ip mine {
              chain skip { ip saddr 10.244.0.0/16 ip daddr { 10.0.0.0/8, 169.254.0.0/16, 172.20.0.0/16 } accept;
              }
              chain post { type nat hook postrouting priority 120; jump skip; ip saddr 10.244.1.0/24 masquerade;
              }
            }
            """),
        nft(
            "protocols and ports within what returned before",
            """
            table ip mine { chain post { type nat hook postrouting priority 120; meta l4proto { tcp, udp } ip daddr { 10.0.0.0/8, 169.254.0.0/16, 172.20.0.0/16 } return; meta l4proto tcp masquerade;
              }
            }
            """),
        nft(
            "a path that contradicts itself",
            """
            table ip mine {
              chain c { ip saddr 10.244.9.0/24 masquerade;
              }
              chain post { type nat hook postrouting priority 90; ip saddr 10.244.1.2 jump c; oifname { "wg0", "wg1" } masquerade; iifname "br9" masquerade;
              }
            }
            """),
        nft(
            "an output interface before there is one",
            """
            table ip mine { chain pre { type filter hook prerouting priority raw; oifname "eth0" notrack;
              }
            }
            """),
        new Case(
            "no output interface yet",
            Tool.NFT,
            """
            table ip mine { chain pre { type filter hook prerouting priority raw; oifname != "eth0" ip daddr 203.0.113.0/24 notrack;
              }
            }
            """,
            "",
            List.of("keeps OTHER"),
            List.of("keeps OTHER"),
            true),
        nft(
            "a mark that is taken away again",
            """
            table ip mine {
              chain raw { type filter hook prerouting priority raw; meta mark set 0x1; ip daddr 10.98.9.9 notrack;
              }
              chain mangle { type filter hook prerouting priority mangle; meta mark set 0;
              }
              chain post { type nat hook postrouting priority 90; meta mark 0x1 masquerade;
              }
            }
            """),
        nft(
            "notrack after tracking, and then a verdict",
            """
            table ip mine {
              chain c { masquerade;
              }
              chain post { type nat hook postrouting priority 90; ip saddr 10.244.1.2 notrack goto c;
              }
            }
            """,
            "masquerades OTHER"),
        nft(
                "a policy of drop after an accept that nobody can judge",
                """
            table ip mine { chain post { type nat hook postrouting priority 90; policy drop; ct mark 0 accept;
              }
            }
            """)
            .untellable(),
        new Case(
            "a set whose elements have a limit",
            Tool.NFT,
            """
            table ip mine {
              set some { type ipv4_addr; limit rate 1/hour burst 1 packets; elements = { 10.244.1.2 };
              }
              chain post { type nat hook postrouting priority 90; ip saddr @some masquerade;
              }
            }
            """,
            "",
            List.of("unclear OTHER"),
            List.of(),
            false),
        new Case(
            "what nobody can follow",
            Tool.NFT,
            """
            table ip mine { chain post { type nat hook postrouting priority 120; oifgroup 0 rt nexthop 192.0.2.1 masquerade;
              }
            }
            """,
            "",
            List.of("unclear OTHER"),
            List.of(),
            false));
  }
}
