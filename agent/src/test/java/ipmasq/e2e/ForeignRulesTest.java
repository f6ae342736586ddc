package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.cli.InProcess;
import ipmasq.config.ParsedJson;
import ipmasq.e2e.GeneratedRules.Dialect;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.testkit.Addresses;
import ipmasq.testkit.ConfigVolume;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Namespace;
import ipmasq.testkit.Probe;
import ipmasq.testkit.Sighting;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Rules of anybody beside ours: whatever {@code explain} states of a packet is what the outside
 * host sees. It may say "unknown", and how often it does is printed. The long form is {@code make
 * agreement}.
 */
@KernelTest
@Tag("agreement")
@Execution(ExecutionMode.CONCURRENT)
class ForeignRulesTest {
  private static final int SEEDS = Integer.getInteger("ipmasq.agreement.configs", 12) * 2;
  private static final List<String> TO4 =
      List.of("10.99.0.1", "10.99.0.9", "172.20.0.1", "172.20.9.9", "203.0.113.7", "198.51.100.9");
  private static final List<String> TO6 =
      List.of("fd99::1", "fd99::9", "2001:db8:20::1", "2001:db8:113::7", "2001:db8:113::9000");

  /** Addresses of the node that are not the uplink's, so that a translation shows. */
  private static final Addresses OWN = Addresses.of("198.51.100.77", "2001:db8:51::77");

  private int stated;
  private int unknown;

  @ParameterizedTest
  @ValueSource(strings = {"nftables", "iptables"})
  void areReadAsPacketsShowThem(String backend) {
    try (Lab lab = Lab.open();
        ConfigVolume volume = new ConfigVolume()) {
      volume.publish("nonMasqueradeCIDRs: [10.0.0.0/8, 172.20.0.0/16, 'fd00::/8']\n");
      Namespace node = lab.node();
      node.ip(
          "address add " + OWN.v4().getHostAddress() + "/32 dev lo",
          "address add " + OWN.v6().getHostAddress() + "/128 dev lo nodad");
      node.feed(GeneratedRules.IPSETS, "ipset", "restore").ok();
      for (int seed = 0; seed < SEEDS; seed++) {
        Dialect dialect = Dialect.values()[seed % 3];
        Family family = seed % 4 == 3 ? Family.IPV6 : Family.IPV4;
        String rules = GeneratedRules.of(seed, family, dialect);
        clear(node);
        boolean before = seed % 2 == 0;
        boolean taken = before && GeneratedRules.load(node, family, dialect, rules);
        node.call(
            () ->
                InProcess.run(
                    "apply", "--config=" + volume.file(), "--backend=" + backend, "--enable-ipv6"));
        if (taken || !before && GeneratedRules.load(node, family, dialect, rules)) {
          judge(lab, backend, family, "seed " + seed + " " + dialect + "\n" + rules);
        }
      }
      System.out.printf(
          "foreign rules beside %s: %d statements, all true; %d%% unknown%n",
          backend, stated, 100 * unknown / Math.max(1, stated + unknown));
    }
  }

  private static void clear(Namespace node) {
    node.run("nft", "flush", "ruleset").ok();
    for (String program : List.of("iptables-legacy", "ip6tables-legacy")) {
      for (String table : List.of("raw", "mangle", "nat")) {
        node.run(program, "-w", "-t", table, "-F").ok();
        node.run(program, "-w", "-t", table, "-X").ok();
      }
    }
  }

  /** Asks about packets of each protocol, and about packets of any, and sends them. */
  private void judge(Lab lab, String backend, Family family, String rules) {
    List<InetAddress> destinations =
        (family == Family.IPV4 ? TO4 : TO6).stream().map(InetAddress::ofLiteral).toList();
    InetAddress pod = family == Family.IPV4 ? Lab.POD.v4() : Lab.POD.v6();
    List<String> words = new ArrayList<>(List.of("explain", "--output=json"));
    words.add("--backend=" + backend);
    destinations.forEach(to -> words.add(to.getHostAddress()));
    ofNode(lab, words, destinations, rules);
    List<Map<String, Object>> ofAny = explain(lab, words);
    words.add("--from=" + pod.getHostAddress());
    // Where replies are not tracked, a connection is never established.
    boolean untracked = rules.contains("notrack");
    for (String protocol : untracked ? List.of("udp", "icmp") : List.of("udp", "tcp", "icmp")) {
      List<String> asked = new ArrayList<>(words);
      asked.add("--proto=" + protocol);
      if (!protocol.equals("icmp")) {
        asked.add("--port=7777");
      }
      List<Map<String, Object>> answers = explain(lab, asked);
      List<Sighting> seen =
          switch (protocol) {
            case "udp" -> lab.sendAll(destinations.stream().map(Probe::udp).toList());
            case "tcp" -> lab.sendAll(destinations.stream().map(Probe::tcp).toList());
            default -> lab.pingAll(destinations);
          };
      for (int i = 0; i < destinations.size(); i++) {
        judge(answers.get(i), seen.get(i), pod, rules + protocol + ": ");
        judge(ofAny.get(i), seen.get(i), pod, rules + "any packet, here " + protocol + ": ");
      }
    }
  }

  /** The node's own packets, which pass other chains before. */
  private void ofNode(Lab lab, List<String> words, List<InetAddress> destinations, String rules) {
    InetAddress own = OWN.like(destinations.getFirst());
    List<String> asked = new ArrayList<>(words);
    asked.addAll(List.of("--from=" + own.getHostAddress(), "--proto=udp", "--port=7777"));
    List<Map<String, Object>> answers = explain(lab, asked);
    List<Sighting> seen =
        lab.sendAll(
            destinations.stream().map(to -> Probe.udp(to).from(lab.node()).source(own)).toList());
    for (int i = 0; i < destinations.size(); i++) {
      judge(answers.get(i), seen.get(i), own, rules + "the node's own: ");
    }
  }

  private static List<Map<String, Object>> explain(Lab lab, List<String> words) {
    String json = lab.node().call(() -> InProcess.run(words.toArray(String[]::new)));
    return ParsedJson.maps(ParsedJson.of(json));
  }

  private void judge(Map<String, Object> answer, Sighting seen, InetAddress pod, String rules) {
    String what = rules + answer + "\nbut " + seen;
    InetAddress source = seen.source();
    switch (String.valueOf(answer.get("actual"))) {
      case "kept" -> assertTrue(source.equals(pod), what);
      case "translated" -> {
        // A packet from anywhere may come from the very address that a rule translates to.
        String toPod = "(?s).*to(-source)? " + Ip.ofBytes(pod.getAddress()) + "\\s.*";
        boolean itself = answer.get("from") == null && rules.matches(toPod);
        assertTrue(itself || !source.equals(pod), what);
        Object to = answer.get("translatedTo");
        Ip ip = Ip.ofBytes(source.getAddress());
        assertTrue(to == null || IpRange.parse("" + to).orElseThrow().contains(ip), what);
      }
      case "unknown" -> {
        unknown++;
        return;
      }
      default -> throw new AssertionError(what);
    }
    stated++;
  }
}
