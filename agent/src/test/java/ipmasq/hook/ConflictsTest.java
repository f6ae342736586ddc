package ipmasq.hook;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.backend.Backend;
import ipmasq.backend.iptables.Iptables;
import ipmasq.backend.iptables.IptablesHook;
import ipmasq.backend.nftables.ForeignChains;
import ipmasq.backend.nftables.OwnTable;
import ipmasq.config.Config;
import ipmasq.hook.Hook.Fate;
import ipmasq.loop.Enforcement;
import ipmasq.loop.Pass;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import ipmasq.status.Routes;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Probe;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Other people's rules beside ours, each judged as packets show it to be: the config exempts
 * 10.0.0.0/8 and 172.20.0.0/16, and the pod sends to both and outside.
 */
@KernelTest
@Timeout(120)
class ConflictsTest {
  private static final Config CONFIG =
      Config.defaults()
          .draft()
          .nonMasqueradeCidrs(List.of(Cidr.of("10.0.0.0/8"), Cidr.of("172.20.0.0/16")))
          .config();
  private static final Policy POLICY = Policy.of(CONFIG, Family.IPV4);
  private static final List<String> DESTINATIONS =
      List.of("10.99.0.1", "172.20.0.1", "203.0.113.7");

  private static Lab lab;

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
   */
  record Case(
      String name,
      Tool tool,
      String before,
      String after,
      List<String> conflicts,
      boolean tellable) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static Case iptables(String name, String before, String after, String... conflicts) {
    return new Case(name, Tool.NFT_IPTABLES, before, after, List.of(conflicts), true);
  }

  private static Case nft(String name, String rules, String... conflicts) {
    return new Case(name, Tool.NFT, rules, "", List.of(conflicts), true);
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
            false),
        new Case(
            "matches that nobody can judge from here",
            Tool.NFT_IPTABLES,
            "",
            "-A POSTROUTING -m statistic --mode random --probability 0.5 -j MASQUERADE\n",
            List.of("unclear OTHER"),
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
            "a verdict map",
            Tool.NFT,
            """
            table ip mine {
              chain out {
                masquerade
              }
              chain post { type nat hook postrouting priority 120; meta l4proto vmap { tcp : accept, udp : jump out };
              }
            }
            """,
            "",
            List.of("unclear OTHER"),
            false));
  }

  @BeforeAll
  static void open() {
    lab = Lab.open();
  }

  @AfterAll
  static void close() {
    if (lab != null) {
      lab.close();
    }
  }

  @AfterEach
  void flush() {
    lab.node().run("nft", "flush", "ruleset");
    lab.node().run("iptables-legacy", "-t", "nat", "-F");
    lab.node().run("iptables-legacy", "-t", "nat", "-X");
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cases")
  void asPacketsShowIt(Case example) throws Exception {
    judge(example, Iptables.ofNode("IP-MASQ-AGENT"), true);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cases")
  void asPacketsShowItWithATableOfOurOwn(Case example) throws Exception {
    try (OwnTable table = OwnTable.visited()) {
      judge(example, table, false);
    }
  }

  private void judge(Case example, Backend backend, boolean sameChain) throws Exception {
    add(example.tool, example.before);
    Pass.Result result =
        lab.node()
            .call(
                () ->
                    Enforcement.enforce(
                        backend, Family.IPV4, seen -> Plan.toward(backend.form(POLICY), seen)));
    assertEquals(Pass.Result.Changed.class, result.getClass(), result.toString());
    add(example.tool, example.after);

    Hook hook = lab.node().call(ConflictsTest::hook);
    for (String destination : DESTINATIONS) {
      boolean translated = lab.send(Probe.udp(destination)).source().equals(Lab.NODE.v4());
      Flow flow = lab.node().call(() -> flow(destination));
      if (example.tellable) {
        assertEquals(translated, translated(hook.fate(flow)), example + " to " + destination);
      }
    }
    List<String> found = new ArrayList<>();
    for (Conflict conflict : Conflicts.in(hook, POLICY)) {
      found.add(conflict.kind().word() + " " + conflict.owner());
    }
    // A table of our own is asked whatever others accept.
    List<String> expected = new ArrayList<>(example.conflicts);
    if (!sameChain) {
      expected.removeIf(text -> text.startsWith("shields"));
    }
    assertEquals(expected, found);
  }

  private static Hook hook() {
    List<BaseChain> chains = new ArrayList<>();
    chains.addAll(new IptablesHook().chains(Family.IPV4, "IP-MASQ-AGENT"));
    chains.addAll(ForeignChains.at(Family.IPV4));
    return new Hook(Family.IPV4, chains, Optional.of(POLICY), false);
  }

  private static Flow flow(String destination) {
    return Routes.flow(
        Ip.of(destination),
        Optional.of(Ip.ofBytes(Lab.POD.v4().getAddress())),
        Optional.of("udp"),
        OptionalInt.of(7777));
  }

  private static boolean translated(Fate fate) {
    return switch (fate) {
      case Fate.Untouched() -> false;
      case Fate.Decided(var decision) ->
          switch (decision.kind()) {
            case TRANSLATED, OURS -> true;
            case KEPT -> false;
            case SHIELDED, DROPPED, UNCLEAR -> throw new AssertionError(decision);
          };
      case Fate.CannotTell(var perhaps) -> throw new AssertionError(perhaps);
    };
  }

  private static void add(Tool tool, String rules) {
    if (rules.isEmpty()) {
      return;
    }
    for (String set : List.of("cali40masq-ipam-pools", "cali40all-ipam-pools")) {
      if (rules.contains(set)) {
        lab.node().run("ipset", "create", "-exist", set, "hash:net").ok();
        lab.node().run("ipset", "add", "-exist", set, "10.244.0.0/16").ok();
      }
    }
    switch (tool) {
      case NFT_IPTABLES -> restore("iptables-nft-restore", rules);
      case LEGACY_IPTABLES -> restore("iptables-legacy-restore", rules);
      case NFT -> lab.node().feed(rules, "nft", "-f", "-").ok();
    }
  }

  private static void restore(String program, String rules) {
    lab.node().feed("*nat\n" + rules + "COMMIT\n", program, "--noflush").ok();
  }
}
