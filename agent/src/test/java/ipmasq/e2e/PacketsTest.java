package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.cli.InProcess;
import ipmasq.config.ParsedJson;
import ipmasq.e2e.GeneratedConfig.Destination;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Probe;
import ipmasq.testkit.Sighting;
import ipmasq.testkit.Sighting.Seen;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the outside host sees is what {@code explain} says, by the kernel's rules and the file's.
 *
 * <p>The built agent applies each config; the many explanations are asked for in this JVM, or
 * starting processes would be most of the work.
 */
@KernelTest
@Execution(ExecutionMode.CONCURRENT)
class PacketsTest {
  private static final int CONFIGS = 100; // a lab
  private static final InetAddress NODE_LINK_LOCAL = InetAddress.ofLiteral("fe80::10");

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void theOutsideSeesWhatExplainSays(int part) {
    try (Lab lab = Lab.open();
        Node node = Node.in(lab.node())) {
      Map<Boolean, Integer> verdicts = new HashMap<>();
      for (int seed = part * CONFIGS; seed < (part + 1) * CONFIGS; seed++) {
        GeneratedConfig config = GeneratedConfig.of(seed);
        try {
          compare(config, lab, node, verdicts);
        } catch (AssertionError e) {
          throw new AssertionError("seed " + seed + ":\n" + config.text() + e.getMessage(), e);
        }
      }
      // The dice must not have left one of the answers out.
      assertEquals(2, verdicts.size());
      verdicts.forEach((verdict, count) -> assertTrue(count > 300, verdict + ": " + count));
    }
  }

  static void compare(GeneratedConfig config, Lab lab, Node node, Map<Boolean, Integer> verdicts) {
    node.volume().write(config.text());
    String file = "--config=" + node.volume().file();
    node.commandWithConfig("apply").ok();
    Map<InetAddress, List<Destination>> byOrigin = new LinkedHashMap<>();
    for (Destination to : config.destinations()) {
      if (to.linkLocal6() || lab.carries(to.address())) {
        byOrigin.computeIfAbsent(origin(to), _ -> new ArrayList<>()).add(to);
      }
    }
    byOrigin.forEach(
        (origin, destinations) -> {
          List<Sighting> seen =
              lab.sendAll(destinations.stream().map(to -> probe(to, lab)).toList());
          List<Boolean> byKernel =
              lab.node().call(() -> explained(origin, destinations, "--output=json"));
          List<Boolean> byFile = lab.node().call(() -> explained(origin, destinations, file));
          assertEquals(byFile, byKernel, "what file and kernel say of " + destinations);
          for (int i = 0; i < destinations.size(); i++) {
            judge(config, destinations.get(i), byKernel.get(i), seen.get(i).seen());
            verdicts.merge(byKernel.get(i), 1, Integer::sum);
          }
        });
  }

  /** Whether each packet is translated, as {@code explain} has it. */
  private static List<Boolean> explained(
      InetAddress origin, List<Destination> destinations, String flag) {
    List<String> words = new ArrayList<>(List.of("explain", "--output=json", "--via=eth0", flag));
    words.add("--from=" + Ip.ofBytes(origin.getAddress()));
    destinations.forEach(destination -> words.add(destination.text()));
    Object answers = ParsedJson.of(InProcess.run(words.toArray(String[]::new)));
    return ParsedJson.maps(answers).stream()
        .map(
            answer ->
                "translated".equals(answer.get(flag.equals("--output=json") ? "actual" : "wanted")))
        .toList();
  }

  private static void judge(GeneratedConfig config, Destination to, boolean translated, Seen seen) {
    String what = to + ": translated " + translated + ", but " + seen;
    Ip source = Ip.ofBytes(seen.source().getAddress());
    Optional<IpRange> addresses = config.addresses(source.family());
    if (translated && addresses.isPresent()) {
      assertTrue(addresses.get().first().compareTo(source) <= 0, what);
      assertTrue(addresses.get().last().compareTo(source) >= 0, what);
    } else {
      assertEquals(expected(to, translated), seen.source(), what);
    }
    assertTrue(!translated || config.allows(seen.port()), "a port out of all ranges: " + what);
  }

  private static InetAddress expected(Destination to, boolean translated) {
    if (!translated) {
      return origin(to);
    }
    return to.linkLocal6() ? NODE_LINK_LOCAL : Lab.NODE.like(to.address());
  }

  /** No router forwards what goes to a link-local IPv6 address: the node itself sends that. */
  private static InetAddress origin(Destination to) {
    return to.linkLocal6() ? Lab.NODE.v6() : Lab.POD.like(to.address());
  }

  private static Probe probe(Destination to, Lab lab) {
    if (to.linkLocal6()) {
      return Probe.udp(lab.neighbour()).from(lab.node()).source(Lab.NODE.v6());
    }
    return to.tcp() ? Probe.tcp(to.address()) : Probe.udp(to.address());
  }
}
