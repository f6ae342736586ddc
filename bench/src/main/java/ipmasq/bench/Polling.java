package ipmasq.bench;

import ipmasq.testkit.Namespace;
import java.util.List;

/**
 * A node on which the Go agent has made its rules, and its commands of one sync more: what to hold
 * an idle agent's CPU time against.
 *
 * <p>They are run again and again in the same minutes, and the mean counts: a host is slow for some
 * seconds in a minute, which an agent that looks all the time is sure to meet, and one that syncs
 * once a minute meets just as much on average.
 */
final class Polling implements AutoCloseable {
  /** What is run a family at each sync, of which the first is meant to fail. */
  private static final List<String> SYNC =
      List.of(
          "iptables -w -t nat -N IP-MASQ-AGENT",
          "iptables -w -t nat -C POSTROUTING -m addrtype ! --dst-type LOCAL -j IP-MASQ-AGENT",
          "iptables-restore -w --noflush");

  private static final String V4 = Upstream.rules(new Ranges(3));
  private static final String V6 = V4.replaceAll("-d [0-9./]+", "-d fd00::/8");

  private final Namespace node = Namespace.open("node");
  private final Samples v4 = new Samples();
  private final Samples both = new Samples();

  Polling() {
    Command.run(node, V4, "iptables-restore").ok();
    Command.run(node, V6, "ip6tables-restore").ok();
  }

  /** One sync that finds all in order: IPv4 first, as that agent does. */
  void sync() {
    double first = commands("iptables", V4);
    v4.add(first);
    both.add(first + commands("ip6tables", V6));
  }

  private double commands(String family, String rules) {
    double millis = 0;
    for (String command : SYNC) {
      String[] words = command.replace("iptables", family).split(" ");
      millis += Command.run(node, rules, words).cpuMillis();
    }
    return millis;
  }

  /** Milliseconds of CPU time of the syncs of IPv4. */
  Samples v4() {
    return v4;
  }

  /** Of the syncs of both families. */
  Samples both() {
    return both;
  }

  @Override
  public void close() {
    node.close();
  }
}
