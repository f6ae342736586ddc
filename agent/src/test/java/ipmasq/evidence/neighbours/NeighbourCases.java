package ipmasq.evidence.neighbours;

import static ipmasq.evidence.neighbours.Others.iptables;
import static ipmasq.evidence.neighbours.Others.nft;

import ipmasq.evidence.neighbours.Others.Case;
import ipmasq.evidence.neighbours.Others.Tool;
import java.util.List;
import java.util.stream.Stream;

/** Rules of programs that one meets on nodes, or that look like theirs. */
final class NeighbourCases {
  private NeighbourCases() {}

  static Stream<Case> cases() {
    return Stream.of(
        nft(
            "the node's own packets to a host port of its pods, and their hairpin",
            """
            table inet cni_hostport { chain masquerading { type nat hook postrouting priority srcnat;
                ip saddr 10.244.1.66 ip daddr 10.244.1.66 masquerade
                ip saddr 127.0.0.1 ip daddr 10.244.1.66 masquerade
                ip saddr 192.0.2.10 ip daddr 10.0.0.0/8 masquerade
              }
            }
            """),
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
            "masquerades KUBE_PROXY"),
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
        iptables(
            "Docker's bridge, with pods elsewhere",
            "",
            """
            -A POSTROUTING -s 10.244.128.0/17 ! -o docker0 -j MASQUERADE
            """,
            "masquerades DOCKER"));
  }
}
