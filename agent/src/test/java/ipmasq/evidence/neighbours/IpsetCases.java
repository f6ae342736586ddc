package ipmasq.evidence.neighbours;

import static ipmasq.evidence.neighbours.Others.iptables;

import ipmasq.evidence.neighbours.Others.Case;
import ipmasq.evidence.neighbours.Others.Tool;
import ipmasq.testkit.Namespace;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Rules that ask ipsets: those of programs that one meets on nodes, and odd ones. */
final class IpsetCases {
  private IpsetCases() {}

  /** What {@code ipset restore} reads, by the name that rules have. */
  private static final Map<String, String> SETS =
      Map.ofEntries(
          set("cali40masq-ipam-pools", "hash:net", "10.244.0.0/16"),
          set("cali40all-ipam-pools", "hash:net", "10.244.0.0/16"),
          set("KUBE-LOOP-BACK", "hash:ip,port,ip", loop("10.244.1.2", 7777), loop("10.244.9.9", 1)),
          set("KUBE-CLUSTER-IP", "hash:ip,port", "10.96.0.1,tcp:443", "10.96.0.10,udp:53"),
          set("cilium_node_set_v4", "hash:ip", "192.0.2.10", "203.0.113.7"),
          set("weaver-no-masq-local", "hash:ip comment", "10.99.0.1 comment x", "172.20.0.1"),
          set("ANTREA-POD-IP", "hash:net", "10.244.0.0/16"),
          set("empty", "hash:net"),
          set("bits", "bitmap:ip range 10.244.1.0/24", "10.244.1.2-10.244.1.3"),
          set("masked", "hash:ip netmask 16", "172.20.0.0"),
          set("ends", "hash:ip,port", "10.99.0.1,udp:7777", "172.20.0.1,tcp:7777"),
          set("served", "hash:net,port", "10.99.0.0/24,udp:7778"),
          set("brief", "hash:net timeout 600", "10.244.0.0/16"),
          set("holes", "hash:net", "10.0.0.0/8", "10.99.0.0/16 nomatch"),
          set("large", "hash:ip", "10.98.0.0/19"),
          set("counted", "hash:net counters", "10.0.0.0/8"),
          set("seen", "hash:ip"),
          set("pings", "hash:ip,port", "10.99.0.1,icmp:8/0"),
          set("sets", "list:set", "empty"));

  private static Map.Entry<String, String> set(String name, String type, String... elements) {
    StringBuilder text = new StringBuilder("create " + name + " " + type + "\n");
    for (String element : elements) {
      text.append("add ").append(name).append(" ").append(element).append("\n");
    }
    return Map.entry(name, text.toString());
  }

  private static String loop(String pod, int port) {
    return pod + ",udp:" + port + "," + pod;
  }

  /** Adds the sets that rules ask. */
  static void addSets(Namespace node, String rules) {
    for (String name : SETS.keySet()) {
      if (rules.contains("-set " + name + " ")) {
        String needed = name.equals("sets") ? SETS.get("empty") : "";
        node.feed(needed + SETS.get(name), "ipset", "restore", "-exist").ok();
      }
    }
  }

  private static final String CALICO =
      """
      :cali-POSTROUTING - [0:0]
      :cali-nat-outgoing - [0:0]
      -A POSTROUTING -m comment --comment "cali:O3lYWMrLQYEMJtB5" -j cali-POSTROUTING
      -A cali-POSTROUTING -m comment --comment "cali:nYKhEzDlr11Jccal" -j cali-nat-outgoing
      -A cali-nat-outgoing -m comment --comment "cali:flqWnvo8yq4ULQLa" -m set --match-set cali40masq-ipam-pools src -m set ! --match-set cali40all-ipam-pools dst -j MASQUERADE --random-fully
      """;

  private static Case legacy(String name, String before, String... conflicts) {
    return new Case(name, Tool.LEGACY_IPTABLES, before, "", List.of(conflicts), List.of(), true);
  }

  static Stream<Case> cases() {
    return Stream.of(
        iptables("Calico's natOutgoing", CALICO, "", "masquerades CALICO"),
        legacy("Calico's natOutgoing in iptables-legacy", CALICO, "masquerades CALICO"),
        iptables(
            "kube-proxy's ipvs mode",
            """
            :KUBE-MARK-MASQ - [0:0]
            :KUBE-NODE-PORT - [0:0]
            :KUBE-POSTROUTING - [0:0]
            :KUBE-SERVICES - [0:0]
            -A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
            -A POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING
            -A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000
            -A KUBE-POSTROUTING -m comment --comment "Kubernetes endpoints dst ip:port, source ip for solving hairpin purpose" -m set --match-set KUBE-LOOP-BACK dst,dst,src -j MASQUERADE
            -A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN
            -A KUBE-POSTROUTING -j MARK --set-xmark 0x4000/0x0
            -A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully
            -A KUBE-SERVICES -s 127.0.0.0/8 -j RETURN
            -A KUBE-SERVICES ! -s 10.244.0.0/16 -m comment --comment "Kubernetes service cluster ip + port for masquerade purpose" -m set --match-set KUBE-CLUSTER-IP dst,dst -j KUBE-MARK-MASQ
            -A KUBE-SERVICES -m addrtype --dst-type LOCAL -j KUBE-NODE-PORT
            -A KUBE-SERVICES -m set --match-set KUBE-CLUSTER-IP dst,dst -j ACCEPT
            """,
            ""),
        iptables(
            "Cilium's masquerading, with its nodes left out",
            """
            :CILIUM_POST_nat - [0:0]
            -A POSTROUTING -m comment --comment "cilium-feeder: CILIUM_POST_nat" -j CILIUM_POST_nat
            -A CILIUM_POST_nat -s 10.244.0.0/16 -m set --match-set cilium_node_set_v4 dst -m comment --comment "exclude traffic to cluster nodes from masquerade" -j ACCEPT
            -A CILIUM_POST_nat -s 10.244.0.0/16 ! -d 10.244.0.0/16 -m comment --comment "cilium masquerade non-cluster" -j MASQUERADE
            """,
            "",
            "masquerades CILIUM",
            "shields CILIUM"),
        iptables(
            "Weave, with local containers left out",
            """
            :WEAVE - [0:0]
            -A POSTROUTING -j WEAVE
            -A WEAVE -m set --match-set weaver-no-masq-local dst -m comment --comment "Prevent SNAT to locally running containers" -j RETURN
            -A WEAVE -s 10.32.0.0/12 -d 224.0.0.0/4 -j RETURN
            -A WEAVE ! -s 10.32.0.0/12 -d 10.32.0.0/12 -j MASQUERADE
            """,
            "",
            "masquerades OTHER"),
        iptables(
            "Antrea's masquerading",
            "",
            """
            :ANTREA-POSTROUTING - [0:0]
            -A POSTROUTING -m comment --comment "Antrea: jump to Antrea postrouting rules" -j ANTREA-POSTROUTING
            -A ANTREA-POSTROUTING -s 10.244.1.0/24 -m comment --comment "Antrea: masquerade Pod to external packets" -m set ! --match-set ANTREA-POD-IP dst -j MASQUERADE
            """,
            "masquerades OTHER"),
        iptables(
            "an empty ipset",
            """
            -A POSTROUTING -m set --match-set empty src -j MASQUERADE
            -A POSTROUTING -m set ! --match-set empty dst -d 172.20.0.0/16 -j MASQUERADE
            """,
            "",
            "masquerades OTHER"),
        legacy(
            "an empty ipset in iptables-legacy",
            """
            -A POSTROUTING -m set --match-set empty src -j MASQUERADE
            -A POSTROUTING -m set ! --match-set empty dst -d 172.20.0.0/16 -j MASQUERADE
            """,
            "masquerades OTHER"),
        iptables(
            "an ipset that is a bitmap",
            """
            -A POSTROUTING -m set ! --match-set bits src -j MASQUERADE
            -A POSTROUTING -m set --match-set bits src -j ACCEPT
            """,
            "",
            "masquerades OTHER",
            "shields OTHER"),
        iptables(
            "an ipset with a netmask",
            """
            -A POSTROUTING -m set --match-set masked dst -j MASQUERADE
            """,
            "",
            "masquerades OTHER"),
        iptables(
            "an ipset of addresses and ports",
            """
            -A POSTROUTING -m set --match-set ends dst,dst -j MASQUERADE
            -A POSTROUTING -m set --match-set served dst,dst -j MASQUERADE
            """,
            "",
            "masquerades OTHER"),
        iptables(
            "an ipset that has more parts than are asked for",
            """
            -A POSTROUTING -m set --match-set ends dst -j MASQUERADE
            """,
            ""),
        legacy(
            "ipsets of addresses and ports in iptables-legacy",
            """
            -A POSTROUTING -m set --match-set KUBE-LOOP-BACK dst,dst,src -j MASQUERADE
            -A POSTROUTING -m set --match-set ends dst,dst -j MASQUERADE
            """,
            "masquerades OTHER"),
        unclear(
            "an ipset with timeouts",
            """
            -A POSTROUTING -m set --match-set brief src -j MASQUERADE
            """),
        unclear(
            "an ipset with exceptions",
            """
            -A POSTROUTING -m set --match-set holes dst -j MASQUERADE
            """),
        unclear(
            "an ipset of too many elements",
            """
            -A POSTROUTING -m set --match-set large dst -j MASQUERADE
            -A POSTROUTING -m set --match-set empty dst -j MASQUERADE
            """),
        unclear(
            "an ipset whose counters matter",
            """
            -A POSTROUTING -m set ! --match-set counted dst --packets-gt 3 -j MASQUERADE
            """),
        unclear(
            "an ipset with a flag",
            """
            -A POSTROUTING -m set --match-set holes dst --return-nomatch -j MASQUERADE
            """),
        unclear(
            "an ipset that a later rule fills",
            """
            -A POSTROUTING -m set --match-set seen src -j MASQUERADE
            -A POSTROUTING -d 172.20.0.0/16 -j SET --add-set seen src
            """),
        unclear(
            "an ipset of pings",
            """
            -A POSTROUTING -m set --match-set pings dst,dst -j MASQUERADE
            """),
        unclear(
            "an ipset of ipsets",
            """
            -A POSTROUTING -m set --match-set sets dst -j MASQUERADE
            """),
        new Case(
            "unclear ipsets in iptables-legacy",
            Tool.LEGACY_IPTABLES,
            """
            -A POSTROUTING -m set ! --match-set counted dst ! --update-counters --packets-gt 3 -j MASQUERADE
            -A POSTROUTING -m set --match-set seen src -j MASQUERADE
            -A POSTROUTING -j SET --add-set seen src
            """,
            "",
            List.of("unclear OTHER"),
            List.of(),
            false));
  }

  private static Case unclear(String name, String before) {
    return iptables(name, before, "", "unclear OTHER").untellable();
  }
}
