package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.cli.InProcess;
import ipmasq.config.ParsedJson;
import ipmasq.e2e.GeneratedConfig.Destination;
import ipmasq.testkit.Addresses;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Probe;
import ipmasq.testkit.Sighting;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * What the outside host sees is what {@code explain} says, by the kernel's rules and the file's.
 */
@KernelTest
class PacketsTest {
  private static final int CONFIGS = 300;
  private static final InetAddress NODE_LINK_LOCAL = InetAddress.ofLiteral("fe80::10");

  @Test
  void theOutsideSeesWhatExplainSays() {
    try (Lab lab = Lab.open();
        Node node = Node.in(lab.node())) {
      Map<Boolean, Integer> verdicts = new HashMap<>();
      for (int seed = 0; seed < CONFIGS; seed++) {
        GeneratedConfig config = GeneratedConfig.of(seed);
        try {
          for (boolean translated : compare(config, lab, node)) {
            verdicts.merge(translated, 1, Integer::sum);
          }
        } catch (AssertionError e) {
          throw new AssertionError("seed " + seed + ":\n" + config.text() + e.getMessage(), e);
        }
      }
      // The dice must not have left one of the answers out.
      verdicts.forEach((verdict, count) -> assertTrue(count > 1000, verdict + ": " + count));
      assertEquals(2, verdicts.size());
    }
  }

  /** Whether each packet was translated, where the outside and both explanations agree. */
  private static List<Boolean> compare(GeneratedConfig config, Lab lab, Node node) {
    List<Boolean> verdicts = new ArrayList<>();
    node.volume().write(config.text());
    String file = "--config=" + node.volume().file();
    List<Destination> destinations =
        config.destinations().stream()
            .filter(d -> d.linkLocal6() || lab.carries(d.address()))
            .toList();
    lab.node().call(() -> InProcess.run("apply", file));
    List<Sighting> seen =
        lab.sendAll(destinations.stream().map(destination -> probe(destination, lab)).toList());
    List<Map<String, @Nullable Object>> byKernel =
        lab.node().call(() -> explained(destinations, List.of()));
    List<Map<String, @Nullable Object>> byFile =
        lab.node().call(() -> explained(destinations, List.of(file)));
    assertEquals(byFile, byKernel);
    for (int i = 0; i < destinations.size(); i++) {
      Destination to = destinations.get(i);
      boolean translated = "true".equals(byKernel.get(i).get("translated"));
      String what = to + ": " + byKernel.get(i) + ", but " + seen.get(i);
      assertEquals(expected(to, translated), seen.get(i).source(), what);
      if (translated && !config.allows(seen.get(i).seen().port())) {
        throw new AssertionError("a port out of all ranges: " + what);
      }
      verdicts.add(translated);
    }
    return verdicts;
  }

  private static List<Map<String, @Nullable Object>> explained(
      List<Destination> destinations, List<String> flags) {
    List<String> words = new ArrayList<>(List.of("explain", "--output=json"));
    words.addAll(flags);
    destinations.forEach(destination -> words.add(destination.text()));
    return ParsedJson.maps(ParsedJson.of(InProcess.run(words.toArray(String[]::new))));
  }

  /** No router forwards what goes to a link-local IPv6 address: the node itself sends that. */
  private static Probe probe(Destination to, Lab lab) {
    if (to.linkLocal6()) {
      return Probe.udp(lab.neighbour()).from(lab.node()).source(Lab.NODE.v6());
    }
    return to.tcp() ? Probe.tcp(to.address()) : Probe.udp(to.address());
  }

  private static InetAddress expected(Destination to, boolean translated) {
    if (to.linkLocal6()) {
      return translated ? NODE_LINK_LOCAL : Lab.NODE.v6();
    }
    Addresses source = translated ? Lab.NODE : Lab.POD;
    return source.like(to.address());
  }

  /** The same for what only the built agent's own process can show: that it answers alike. */
  @Test
  void theBuiltAgentAnswersAlike() {
    try (Lab lab = Lab.open();
        Node node = Node.in(lab.node())) {
      Stream.of(1, 2, 3)
          .map(GeneratedConfig::of)
          .forEach(
              config -> {
                node.volume().write(config.text());
                node.commandWithConfig("apply").ok();
                List<String> words = new ArrayList<>(List.of("explain", "--output=json"));
                config.destinations().forEach(destination -> words.add(destination.text()));
                String answer = node.command(words.toArray(String[]::new)).ok();
                assertEquals(
                    lab.node().call(() -> explained(config.destinations(), List.of())),
                    ParsedJson.maps(ParsedJson.of(answer)));
              });
    }
  }
}
