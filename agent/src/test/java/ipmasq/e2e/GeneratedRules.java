package ipmasq.e2e;

import ipmasq.net.Family;
import ipmasq.testkit.Namespace;
import ipmasq.testkit.Result;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Rules that anybody might have at nat postrouting, made from a seed, in one of the dialects. */
final class GeneratedRules {
  /** Who writes them. */
  enum Dialect {
    NFT,
    IPTABLES_NFT,
    IPTABLES_LEGACY
  }

  private static final List<String> BLOCKS4 =
      List.of(
          "10.0.0.0/8",
          "10.99.0.0/16",
          "10.99.0.1/32",
          "172.20.0.0/16",
          "172.20.0.0/30",
          "203.0.113.0/24",
          "203.0.113.128/25",
          "198.51.100.9/32",
          "0.0.0.0/1",
          "224.0.0.0/4");
  private static final List<String> BLOCKS6 =
      List.of(
          "fd00::/8",
          "fd99::/16",
          "fd99::1/128",
          "2001:db8:20::/48",
          "2001:db8:20::/126",
          "2001:db8:113::/64",
          "2001:db8:113::8000/113",
          "2000::/3",
          "::/1",
          "ff00::/8");
  private static final List<String> RANGES4 =
      List.of("10.99.0.0-10.99.0.5", "172.20.0.1-172.21.0.0", "8.0.0.0-203.0.113.6");
  private static final List<String> RANGES6 =
      List.of("fd99::-fd99::5", "2001:db8:20::1-2001:db8:21::", "2001::-2001:db8:113::6");
  private static final List<String> SOURCES4 =
      List.of(
          "10.244.0.0/16", "10.244.1.2/32", "10.244.1.3/32", "172.17.0.0/16", "198.51.100.77/32");
  private static final List<String> SOURCES6 =
      List.of(
          "fd00:244::/32",
          "fd00:244:1::2/128",
          "fd00:244:1::3/128",
          "fd77::/16",
          "2001:db8:51::77/128");

  private final Random random;
  private final Family family;
  private final boolean legacy;
  private int chains;

  private GeneratedRules(int seed, Family family, Dialect dialect) {
    this.random = new Random(seed);
    this.family = family;
    this.legacy = dialect == Dialect.IPTABLES_LEGACY;
  }

  static String of(int seed, Family family, Dialect dialect) {
    GeneratedRules rules = new GeneratedRules(seed, family, dialect);
    return dialect == Dialect.NFT ? rules.tables() : rules.saved();
  }

  /** The ipsets that rules ask, as {@code ipset restore} reads them. */
  static final String IPSETS =
      """
      create pods4 hash:net
      add pods4 10.244.0.0/16
      create blocks4 hash:net
      add blocks4 10.99.0.0/24
      add blocks4 172.20.9.0/24
      add blocks4 198.51.100.0/24
      create hosts4 hash:ip
      add hosts4 10.99.0.1
      add hosts4 203.0.113.7
      add hosts4 10.244.1.2
      create bits4 bitmap:ip range 172.20.0.0/16
      add bits4 172.20.0.0/24
      create ends4 hash:ip,port
      add ends4 10.99.0.1,udp:7777
      add ends4 172.20.0.1,tcp:7777
      add ends4 203.0.113.7,tcp:80
      create pairs4 hash:ip,port,ip
      add pairs4 203.0.113.7,udp:7777,10.244.1.2
      add pairs4 10.99.0.1,tcp:7777,198.51.100.77
      create none4 hash:net
      create brief4 hash:net timeout 3600
      add brief4 10.99.0.0/24
      create pods6 hash:net family inet6
      add pods6 fd00:244::/32
      create blocks6 hash:net family inet6
      add blocks6 fd99::/64
      add blocks6 2001:db8:20::/48
      create hosts6 hash:ip family inet6
      add hosts6 fd99::1
      add hosts6 2001:db8:113::7
      add hosts6 fd00:244:1::2
      create bits6 hash:net family inet6
      add bits6 2001:db8:113::/113
      create ends6 hash:ip,port family inet6
      add ends6 fd99::1,udp:7777
      add ends6 2001:db8:20::1,tcp:7777
      create pairs6 hash:ip,port,ip family inet6
      add pairs6 2001:db8:113::7,udp:7777,fd00:244:1::2
      create none6 hash:net family inet6
      create brief6 hash:net family inet6 timeout 3600
      add brief6 fd99::/64
      """;

  /** Whether the tool took them: some contradict themselves. */
  static boolean load(Namespace node, Family family, Dialect dialect, String rules) {
    String six = family == Family.IPV6 ? "6" : "";
    Result result =
        switch (dialect) {
          case NFT -> node.feed(rules, "nft", "-f", "-");
          case IPTABLES_NFT -> node.feed(rules, "ip" + six + "tables-nft-restore", "--noflush");
          case IPTABLES_LEGACY ->
              node.feed(rules, "ip" + six + "tables-legacy-restore", "--noflush");
        };
    return result.exit() == 0;
  }

  private <T> T one(List<T> of) {
    return of.get(random.nextInt(of.size()));
  }

  private boolean chance(int percent) {
    return random.nextInt(100) < percent;
  }

  private String block() {
    return one(family == Family.IPV4 ? BLOCKS4 : BLOCKS6);
  }

  private String range() {
    return one(family == Family.IPV4 ? RANGES4 : RANGES6);
  }

  private String source() {
    return one(family == Family.IPV4 ? SOURCES4 : SOURCES6);
  }

  private String snat() {
    return family == Family.IPV4
        ? one(List.of("192.0.2.10", "192.0.2.77", "10.244.1.2", "192.0.2.70-192.0.2.79"))
        : one(
            List.of(
                "2001:db8:2::10",
                "2001:db8:2::77",
                "fd00:244:1::2",
                "2001:db8:2::70-2001:db8:2::79"));
  }

  // nft

  private String tables() {
    StringBuilder text = new StringBuilder();
    String kind = chance(30) ? "inet" : family == Family.IPV4 ? "ip" : "ip6";
    for (int table = 0; table <= random.nextInt(2); table++) {
      text.append("table ").append(kind).append(" mine").append(table).append(" {\n");
      text.append(" set some { type ").append(type()).append("; flags interval; elements = { ");
      text.append(range()).append(" } }\n");
      text.append(" counter seen { }\n");
      StringBuilder below = new StringBuilder();
      for (int chain = 0; chain <= random.nextInt(2); chain++) {
        below.append(" chain c").append(chain).append(" {\n");
        rules(below, 0);
        below.append(" }\n");
      }
      int callable = chains = random.nextInt(2) + 1;
      text.append(below.toString().contains("chain c1") ? "" : " chain c1 { }\n").append(below);
      text.append(" chain post { type nat hook postrouting priority ");
      text.append(one(List.of(80, 90, 100, 104, 106, 120))).append(";\n");
      rules(text, callable);
      text.append(" }\n");
      if (chance(20)) {
        early(text, "untracked", "raw", "notrack");
      }
      if (chance(30)) {
        early(text, "marked", "mangle", "meta mark set " + one(List.of("0x4000", "0x80", "0")));
      }
      text.append("}\n");
    }
    return text.toString();
  }

  /** A chain that pods' packets pass before they are routed, or one for the node's own. */
  private void early(StringBuilder text, String name, String priority, String action) {
    boolean own = chance(40);
    text.append(" chain ").append(name).append(" { type filter hook ");
    text.append(own ? "output" : "prerouting").append(" priority ").append(priority);
    text.append(";\n  ");
    text.append(
        one(
            List.of(
                ip() + " saddr " + not() + source(),
                ip() + " daddr " + not() + block(),
                "meta l4proto " + not() + one(List.of("udp", "tcp")),
                (own ? "oifname " : "iifname ") + not() + one(List.of("pod0", "eth0")))));
    text.append(' ').append(chance(20) ? "return\n  " : "").append(action).append("\n }\n");
  }

  private String type() {
    return family == Family.IPV4 ? "ipv4_addr" : "ipv6_addr";
  }

  private void rules(StringBuilder text, int callable) {
    int count = 1 + random.nextInt(4);
    for (int i = 0; i < count; i++) {
      text.append("  ");
      for (int j = random.nextInt(3); j > 0; j--) {
        text.append(match()).append(' ');
      }
      text.append(chance(20) ? "counter " : chance(10) ? "counter name seen " : "");
      text.append(action(callable)).append('\n');
    }
  }

  private String ip() {
    return family == Family.IPV4 ? "ip" : "ip6";
  }

  private String not() {
    return chance(25) ? "!= " : "";
  }

  private String match() {
    String uplink = "eth0";
    return switch (random.nextInt(18)) {
      case 0, 1 -> ip() + " saddr " + not() + source();
      case 2, 3, 4 -> ip() + " daddr " + not() + block();
      case 5 -> ip() + " daddr " + not() + range();
      case 6 -> ip() + " daddr " + not() + "@some";
      case 7 -> ip() + " daddr " + not() + "{ " + block() + " }";
      case 8 -> "oifname " + not() + one(List.of(uplink, "\"eth*\"", "pod0", "\"wlan*\""));
      case 9 ->
          chance(50)
              ? "oif " + not() + one(List.of(uplink, "lo"))
              : "iif " + not() + one(List.of("pod0", "lo"));
      case 10 ->
          "meta l4proto "
              + not()
              + one(List.of("udp", "tcp", "{ tcp, udp }", "icmp", "ipv6-icmp", "sctp"));
      case 15 -> "tcp dport " + not() + one(List.of("7777", "1-1023", "{ 53, 7777 }"));
      case 16 ->
          one(
              List.of(
                  "th dport 7777",
                  "tcp flags syn",
                  "tcp flags & (syn|ack) == syn",
                  "icmp type echo-request",
                  "icmpv6 type { echo-request, echo-reply }",
                  "udp sport 1024-65535",
                  family == Family.IPV4 ? "ip protocol udp" : "ip6 nexthdr tcp",
                  "meta l4proto . th dport { tcp . 7777, udp . 53 }"));
      case 11 -> "udp dport " + not() + one(List.of("7777", "53", "7000-8000", "{ 53, 7777 }"));
      case 12 -> "meta mark " + one(List.of("0", "0x4000", "& 0x4000 == 0", "& 0x80 == 0x80"));
      case 13 -> "ct state " + one(List.of("new", "established", "new,related", "invalid"));
      case 14 -> "ct status " + one(List.of("dnat", "snat", "confirmed"));
      default ->
          one(
              List.of(
                  "oifgroup 0",
                  "oifgroup 7",
                  "meta skuid 0",
                  "numgen random mod 2 0",
                  "meta cpu 0",
                  "fib saddr type local",
                  "fib daddr type != local",
                  "meta length > 2000",
                  ip() + " saddr . " + ip() + " daddr { " + pair() + " }",
                  "rt nexthop " + (family == Family.IPV4 ? "192.0.2.1" : "2001:db8:2::1")));
    };
  }

  private String pair() {
    return family == Family.IPV4
        ? "10.244.1.2 . " + one(List.of("10.99.0.1", "203.0.113.7"))
        : "fd00:244:1::2 . " + one(List.of("fd99::1", "2001:db8:113::7"));
  }

  private String action(int callable) {
    String other = family == Family.IPV4 ? "192.0.2.77" : "2001:db8:2::77";
    String pod = family == Family.IPV4 ? "10.244.1.2" : "fd00:244:1::2";
    String to = family == Family.IPV4 ? "snat ip to " : "snat ip6 to ";
    return switch (random.nextInt(12)) {
      case 0, 1, 2 -> "masquerade";
      case 3 -> to + snat();
      case 4 -> to + ip() + " saddr";
      case 5 -> to + ip() + " saddr map { " + pod + " : " + one(List.of(pod, other)) + " }";
      case 6 -> "accept";
      case 7 -> "return";
      case 8 -> "meta mark set " + one(List.of("0x4000", "0", "meta mark ^ 0x4000"));
      case 9 ->
          callable > 0
              ? "meta l4proto vmap { tcp : accept, udp : "
                  + one(List.of("jump c0", "goto c1", "return"))
                  + " }"
              : "counter";
      default -> callable > 0 ? one(List.of("jump c0", "jump c1", "goto c0")) : "masquerade";
    };
  }

  private String icmp() {
    return family == Family.IPV4 ? "icmp" : "ipv6-icmp";
  }

  // iptables

  private String saved() {
    List<String> lines = new ArrayList<>(List.of("*nat", ":OTHER-A - [0:0]", ":OTHER-B - [0:0]"));
    for (String chain : List.of("OTHER-B", "OTHER-A", "POSTROUTING")) {
      for (int i = random.nextInt(4); i >= 0; i--) {
        StringBuilder line = new StringBuilder("-A " + chain);
        if (chance(40)) {
          line.append(chance(20) ? " !" : "")
              .append(" -p ")
              .append(one(List.of("udp", "tcp", icmp())));
        }
        boolean ports =
            line.indexOf(" -p ") > 0 && line.indexOf("!") < 0 && line.indexOf("icmp") < 0;
        for (int j = random.nextInt(3); j > 0; j--) {
          line.append(' ').append(option(line.toString(), ports));
        }
        boolean port = ports && chance(15);
        lines.add(line + " " + (port ? "-j SNAT --to-source :4000-5000" : target(chain)));
      }
    }
    lines.add("COMMIT");
    if (chance(25)) {
      early(lines, "mangle", "-j MARK --set-xmark " + one(List.of("0x4000/0x4000", "0x80/0xff")));
    }
    if (chance(15)) {
      early(lines, "raw", "-j CT --notrack");
    }
    return String.join("\n", lines) + "\n";
  }

  private void early(List<String> lines, String table, String target) {
    String not = chance(25) ? "! " : "";
    boolean own = chance(40);
    String link = (own ? "-o " : "-i ") + one(List.of("pod0", "eth0"));
    String rule = own ? "-A OUTPUT " : "-A PREROUTING ";
    lines.add("*" + table);
    lines.add(
        rule
            + not
            + one(List.of("-s " + source(), "-d " + block(), link))
            + " "
            + (chance(20) ? "-j ACCEPT" : target));
    lines.add(rule + "-d " + block() + " " + target);
    lines.add("COMMIT");
  }

  private String option(String line, boolean ports) {
    String not = chance(25) ? "! " : "";
    String option =
        switch (random.nextInt(15)) {
          case 0, 1 -> not + "-s " + source();
          case 2, 3, 4 -> not + "-d " + block();
          case 5 -> "-m iprange " + not + "--dst-range " + range();
          case 6 -> not + "-o " + one(List.of("eth0", "eth+", "lo", "wlan+"));
          case 7 ->
              ports
                  ? "-m multiport " + not + "--dports " + one(List.of("53,7777", "7000:8000", "53"))
                  : "-m comment --comment \"a \\\"quoted\\\" word\"";
          case 8 ->
              "-m mark " + not + "--mark " + one(List.of("0x4000/0x4000", "0x0", "0x80/0xff"));
          case 9 -> "-m conntrack " + not + "--ctstate " + one(List.of("NEW", "ESTABLISHED"));
          case 10 -> "-m addrtype " + not + "--dst-type LOCAL";
          case 11 -> "-m addrtype " + not + "--src-type LOCAL";
          case 12, 13 -> "-m set " + not + "--match-set " + ipset() + (chance(30) ? pool() : "");
          default ->
              one(
                  List.of(
                      "-m statistic --mode random --probability 0.5",
                      "-m addrtype " + not + "--dst-type UNICAST",
                      family == Family.IPV4 ? not + "-f" : "-m addrtype --dst-type UNICAST",
                      "-m limit --limit 1/hour --limit-burst 1",
                      "-m length --length 2000:3000"));
        };
    String name = option.replace("! ", "").split(" ")[0] + option.replaceAll(".*(--\\S+).*", "$1");
    boolean twice = line.replace("! ", "").contains(option.replace("! ", "").split(" ")[0] + " ");
    return twice || name.isEmpty() ? "" : option;
  }

  private String ipset() {
    String version = family == Family.IPV4 ? "4" : "6";
    return one(List.of(
            "pods? src",
            "blocks? dst",
            "hosts? src",
            "hosts? dst",
            "bits? dst",
            "ends? dst,dst",
            "ends? dst,src",
            "ends? dst",
            "pairs? dst,dst,src",
            "none? src",
            "brief? dst"))
        .replace("?", version);
  }

  /** As Calico has it. */
  private String pool() {
    return " -m set " + (chance(50) ? "! " : "") + "--match-set " + ipset();
  }

  private String target(String chain) {
    return switch (random.nextInt(9)) {
      case 0, 1, 2 -> "-j MASQUERADE";
      case 3 -> "-j SNAT --to-source " + snat();
      case 4 -> "-j ACCEPT";
      case 5 -> "-j RETURN";
      case 6 ->
          legacy ? "-j ACCEPT" : "-j MARK --set-xmark " + one(List.of("0x4000/0x4000", "0x0"));
      default ->
          switch (chain) {
            case "POSTROUTING" -> one(List.of("-j OTHER-A", "-g OTHER-B", "-j OTHER-B"));
            case "OTHER-A" -> "-j OTHER-B";
            default -> "-j MASQUERADE";
          };
    };
  }
}
