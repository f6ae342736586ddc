package ipmasq.hook;

import ipmasq.testkit.Namespace;
import java.util.List;
import java.util.stream.Stream;

/** Rules that other people write, and what is to be said of them. */
final class Others {
  private Others() {}

  /** Which program writes what others wrote. */
  enum Tool {
    NFT_IPTABLES,
    LEGACY_IPTABLES,
    NFT
  }

  /**
   * @param before rules that stand before ours, as the tool's own file
   * @param after rules that come after ours
   * @param conflicts what is to be found: {@code kind owner}, in order
   * @param pinned what is left of that where our rules pin
   * @param tellable whether it can be told from here what happens to a packet
   */
  record Case(
      String name,
      Tool tool,
      String before,
      String after,
      List<String> conflicts,
      List<String> pinned,
      boolean tellable) {
    Case untellable() {
      return new Case(name, tool, before, after, conflicts, pinned, false);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private static Case iptables(String name, String before, String after, String... conflicts) {
    return new Case(name, Tool.NFT_IPTABLES, before, after, List.of(conflicts), List.of(), true);
  }

  private static Case nft(String name, String rules, String... conflicts) {
    return new Case(name, Tool.NFT, rules, "", List.of(conflicts), List.of(), true);
  }

  static Stream<Case> cases() {
    return Stream.of(
        iptables("nobody else", "", ""),
        iptables(
            "kube-proxy's marked traffic",
            """
            :KUBE-POSTROUTING - [0:0]
            -A POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING
            -A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN
            -A KUBE-POSTROUTING -j MARK --set-xmark 0x4000/0x0
            -A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully
            """,
            ""),
        iptables(
            "the kubelet's --non-masquerade-cidr",
            "",
            """
            -A POSTROUTING ! -d 10.0.0.0/8 -m comment --comment "kubenet: SNAT for outbound traffic from cluster" -m addrtype ! --dst-type LOCAL -j MASQUERADE
            """,
            "masquerades KUBELET"),
        iptables(
            "flannel, old",
            """
            -A POSTROUTING -s 10.244.0.0/16 -d 10.244.0.0/16 -j RETURN
            -A POSTROUTING -s 10.244.0.0/16 ! -d 224.0.0.0/4 -m comment --comment "flanneld masq" -j MASQUERADE --random-fully
            """,
            "",
            "masquerades FLANNEL"),
        iptables(
            "flannel, new",
            "",
            """
            :FLANNEL-POSTRTG - [0:0]
            -A POSTROUTING -m comment --comment "flanneld masq" -j FLANNEL-POSTRTG
            -A FLANNEL-POSTRTG -m mark --mark 0x4000/0x4000 -m comment --comment "flanneld masq" -j RETURN
            -A FLANNEL-POSTRTG -s 10.244.1.0/24 -d 10.244.0.0/16 -m comment --comment "flanneld masq" -j RETURN
            -A FLANNEL-POSTRTG -s 10.244.0.0/16 ! -d 224.0.0.0/4 -m comment --comment "flanneld masq" -j MASQUERADE --random-fully
            -A FLANNEL-POSTRTG ! -s 10.244.0.0/16 -d 10.244.0.0/16 -m comment --comment "flanneld masq" -j MASQUERADE --random-fully
            """,
            "masquerades FLANNEL"),
        iptables(
            "Docker's own network",
            """
            -A POSTROUTING -s 172.17.0.0/16 ! -o docker0 -j MASQUERADE
            """,
            "",
            "masquerades-own DOCKER"),
        iptables(
            "a CNI plugin's ipMasq",
            "",
            """
            :CNI-4f1a5e0d3c2b1a0987654321 - [0:0]
            -A POSTROUTING -s 10.244.1.2/32 -m comment --comment "name: \\"net\\" id: \\"abc\\"" -j CNI-4f1a5e0d3c2b1a0987654321
            -A CNI-4f1a5e0d3c2b1a0987654321 -d 10.244.1.0/24 -m comment --comment "name: \\"net\\" id: \\"abc\\"" -j ACCEPT
            -A CNI-4f1a5e0d3c2b1a0987654321 ! -d 224.0.0.0/4 -m comment --comment "name: \\"net\\" id: \\"abc\\"" -j MASQUERADE
            """,
            "masquerades CNI"),
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
            "Calico's natOutgoing",
            Tool.NFT_IPTABLES,
            """
            :cali-POSTROUTING - [0:0]
            :cali-nat-outgoing - [0:0]
            -A POSTROUTING -m comment --comment "cali:O3lYWMrLQYEMJtB5" -j cali-POSTROUTING
            -A cali-POSTROUTING -m comment --comment "cali:nYKhEzDlr11Jccal" -j cali-nat-outgoing
            -A cali-nat-outgoing -m comment --comment "cali:flqWnvo8yq4ULQLa" -m set --match-set cali40masq-ipam-pools src -m set ! --match-set cali40all-ipam-pools dst -j MASQUERADE --random-fully
            """,
            "",
            List.of("unclear CALICO"),
            List.of(),
            false),
        new Case(
            "matches that nobody can judge from here",
            Tool.NFT_IPTABLES,
            "",
            "-A POSTROUTING -m statistic --mode random --probability 0.5 -j MASQUERADE\n",
            List.of("unclear OTHER"),
            List.of(),
            false),
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
            List.of("keeps OTHER"),
            List.of("keeps OTHER"),
            true),
        nft(
            "kube-proxy's nftables mode",
            """
            table ip kube-proxy {
              chain masquerading { meta mark & 0x4000 == 0 return; meta mark set meta mark ^ 0x4000; masquerade fully-random;
              }
              chain nat-postrouting { type nat hook postrouting priority srcnat; jump masquerading;
              }
            }
            """),
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
            "kube-proxy's hairpin connections",
            """
            table ip kube-proxy {
              set hairpin-connections { type ipv4_addr . ipv4_addr . inet_proto . inet_service; elements = { 10.244.1.2 . 10.244.1.2 . udp . 7777 };
              }
              chain masquerading { meta mark & 0x4000 != 0 meta mark set meta mark ^ 0x4000 masquerade fully-random; ct status dnat ip saddr . ip daddr . meta l4proto . th dport @hairpin-connections masquerade fully-random;
              }
              chain nat-postrouting { type nat hook postrouting priority srcnat; jump masquerading;
              }
            }
            """),
        iptables(
            "Docker's hairpin",
            """
            -A POSTROUTING -s 10.244.9.9/32 -d 10.244.9.9/32 -p tcp -m tcp --dport 80 -j MASQUERADE
            """,
            ""),
        iptables(
            "Calico's floating addresses and its tunnel",
            """
            :cali-POSTROUTING - [0:0]
            :cali-fip-snat - [0:0]
            -A POSTROUTING -m comment --comment "cali:O3lYWMrLQYEMJtB5" -j cali-POSTROUTING
            -A cali-POSTROUTING -m comment --comment "cali:NIcghlsXgu3" -j cali-fip-snat
            -A cali-POSTROUTING -o tunl0 -m comment --comment "cali:SXWvdsbh4Mw7wOln" -m addrtype ! --src-type LOCAL --limit-iface-out -m addrtype --src-type LOCAL -j MASQUERADE --random-fully
            -A cali-fip-snat -s 10.244.9.9/32 -d 10.244.9.9/32 -m comment --comment "cali:x" -j SNAT --to-source 192.0.2.77
            """,
            ""),
        iptables(
            "the AWS VPC CNI",
            "",
            """
            :AWS-SNAT-CHAIN-0 - [0:0]
            -A POSTROUTING -m comment --comment "AWS SNAT CHAIN" -j AWS-SNAT-CHAIN-0
            -A AWS-SNAT-CHAIN-0 -d 192.168.0.0/16 -m comment --comment "AWS SNAT CHAIN" -j RETURN
            -A AWS-SNAT-CHAIN-0 ! -o vlan+ -m comment --comment "AWS, SNAT" -m addrtype ! --dst-type LOCAL -j SNAT --to-source 192.0.2.10 --random-fully
            """,
            "masquerades AWS"),
        iptables(
            "podman's own network",
            """
            :NETAVARK-1D8721804F16F - [0:0]
            -A POSTROUTING -s 10.88.0.0/16 -j NETAVARK-1D8721804F16F
            -A NETAVARK-1D8721804F16F -d 10.88.0.0/16 -j ACCEPT
            -A NETAVARK-1D8721804F16F ! -d 224.0.0.0/4 -j MASQUERADE
            """,
            "",
            "masquerades-own PODMAN"),
        iptables(
            "libvirt's own network",
            """
            :LIBVIRT_PRT - [0:0]
            -A POSTROUTING -j LIBVIRT_PRT
            -A LIBVIRT_PRT -s 192.168.122.0/24 -d 224.0.0.0/24 -j RETURN
            -A LIBVIRT_PRT -s 192.168.122.0/24 ! -d 192.168.122.0/24 -p tcp -j MASQUERADE --to-ports 1024-65535
            -A LIBVIRT_PRT -s 192.168.122.0/24 ! -d 192.168.122.0/24 -j MASQUERADE
            """,
            "",
            "masquerades-own LIBVIRT"),
        iptables(
            "states, ranges and ports",
            "",
            """
            -A POSTROUTING -m conntrack --ctstate RELATED,ESTABLISHED -j MASQUERADE
            -A POSTROUTING -p udp -m multiport --dports 53,80:90 -m iprange --dst-range 172.20.0.0-172.20.0.9 -j MASQUERADE
            -A POSTROUTING -p udp -m multiport ! --dports 53,80:90 -m conntrack --ctstate NEW -m iprange --dst-range 172.20.0.0-172.20.0.9 -j SNAT --to-source 192.0.2.10
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
            "masquerades OTHER"),
        iptables(
            "a bridge that only looks like Docker's",
            "",
            """
            -A POSTROUTING -s 10.244.0.0/16 ! -o br-pods -j MASQUERADE
            """,
            "masquerades OTHER"),
        iptables(
            "a comment that mentions Docker",
            "",
            """
            -A POSTROUTING -s 10.244.0.0/16 -o eth0 -m comment --comment "as docker does" -j MASQUERADE
            """,
            "masquerades OTHER"),
        iptables(
            "Docker's bridge with pods on it",
            "",
            """
            -A POSTROUTING -s 10.244.1.0/24 ! -o docker0 -j MASQUERADE
            """,
            "masquerades DOCKER"),
        nft(
            "an interface that does not exist",
            """
            table ip mine { chain post { type nat hook postrouting priority 90; oifname "wg0" masquerade; oifname != "ovn-k8s-mp0" return; snat to 192.0.2.10;
              }
            }
            """),
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
            "a mark that is restored beside kube-proxy",
            Tool.NFT_IPTABLES,
            """
            :KUBE-POSTROUTING - [0:0]
            -A POSTROUTING -j KUBE-POSTROUTING
            -A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN
            -A KUBE-POSTROUTING -j MARK --set-xmark 0x4000/0x0
            -A KUBE-POSTROUTING -j MASQUERADE --random-fully
            COMMIT
            *mangle
            -A PREROUTING -i eni+ -j CONNMARK --restore-mark --nfmask 0x80 --ctmask 0x80
            """,
            "",
            List.of(),
            List.of(),
            true),
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
        iptables(
                "kube-proxy's mark set by somebody else",
                """
            :KUBE-POSTROUTING - [0:0]
            :KUBE-MARK-MASQ - [0:0]
            -A PREROUTING -d 10.99.0.0/16 -j KUBE-MARK-MASQ
            -A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000
            -A POSTROUTING -j KUBE-POSTROUTING
            -A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN
            -A KUBE-POSTROUTING -j MARK --set-xmark 0x4000/0x0
            -A KUBE-POSTROUTING -j MASQUERADE --random-fully
            """,
                "",
                "unclear KUBE_PROXY")
            .untellable(),
        iptables(
            "a port of the host that is mapped to a pod",
            """
            :CNI-HOSTPORT-SETMARK - [0:0]
            :CNI-HOSTPORT-MASQ - [0:0]
            :CNI-HOSTPORT-DNAT - [0:0]
            -A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT
            -A CNI-HOSTPORT-DNAT -p tcp -m tcp --dport 8080 -j CNI-HOSTPORT-SETMARK
            -A CNI-HOSTPORT-SETMARK -j MARK --set-xmark 0x2000/0x2000
            -A POSTROUTING -j CNI-HOSTPORT-MASQ
            -A CNI-HOSTPORT-MASQ -m mark --mark 0x2000/0x2000 -j MASQUERADE
            """,
            ""),
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
        iptables(
            "Docker's bridge, with pods elsewhere",
            "",
            """
            -A POSTROUTING -s 10.244.128.0/17 ! -o docker0 -j MASQUERADE
            """,
            "masquerades DOCKER"),
        iptables(
            "two conditions that returned before",
            "",
            """
            -A POSTROUTING -s 10.244.0.0/16 -o eth0 -d 10.0.0.0/8 -j RETURN
            -A POSTROUTING -s 10.244.0.0/16 -o eth0 -d 172.20.0.0/16 -j RETURN
            -A POSTROUTING -s 10.244.0.0/16 -o eth0 -d 169.254.0.0/16 -j RETURN
            -A POSTROUTING -s 10.244.0.0/16 -o eth0 -j MASQUERADE
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
            """,
                "unclear OTHER")
            .untellable(),
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

  static void add(Namespace node, Tool tool, String rules) {
    if (rules.isEmpty()) {
      return;
    }
    for (String set : List.of("cali40masq-ipam-pools", "cali40all-ipam-pools")) {
      if (rules.contains(set)) {
        node.run("ipset", "create", "-exist", set, "hash:net").ok();
        node.run("ipset", "add", "-exist", set, "10.244.0.0/16").ok();
      }
    }
    switch (tool) {
      case NFT_IPTABLES -> restore(node, "iptables-nft-restore", rules);
      case LEGACY_IPTABLES -> restore(node, "iptables-legacy-restore", rules);
      case NFT -> node.feed(rules, "nft", "-f", "-").ok();
    }
  }

  private static void restore(Namespace node, String program, String rules) {
    node.feed("*nat\n" + rules + "COMMIT\n", program, "--noflush").ok();
  }
}
