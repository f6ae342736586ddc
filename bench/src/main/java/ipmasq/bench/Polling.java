package ipmasq.bench;

import ipmasq.testkit.Namespace;
import java.util.List;

/** What to hold an idle agent's CPU time against, taken in the same minute. */
final class Polling {
  private static final int REPETITIONS = 7;

  /** What the Go agent runs a family at each sync, of which the first is meant to fail. */
  private static final List<String> SYNC =
      List.of(
          "iptables -w -t nat -N IP-MASQ-AGENT",
          "iptables -w -t nat -C POSTROUTING -m addrtype ! --dst-type LOCAL -j IP-MASQ-AGENT",
          "iptables-restore -w --noflush");

  private Polling() {}

  /** Milliseconds of CPU time of the commands of one sync that finds all in order; a median. */
  static double sync(String... families) {
    Samples samples = new Samples();
    for (int i = 0; i < REPETITIONS; i++) {
      samples.add(once(families));
    }
    return samples.median();
  }

  private static double once(String... families) {
    double millis = 0;
    try (Namespace node = Namespace.open("node")) {
      for (String family : families) {
        String v4 = Upstream.rules(new Ranges(3));
        String rules = family.equals("iptables") ? v4 : v4.replaceAll("-d [0-9./]+", "-d fd00::/8");
        Command.run(node, rules, family + "-restore").ok();
        for (String command : SYNC) {
          String[] words = command.replace("iptables", family).split(" ");
          millis += Command.run(node, rules, words).cpuMillis();
        }
      }
    }
    return millis;
  }
}
