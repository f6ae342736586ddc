package ipmasq.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.config.Config;
import ipmasq.evidence.neighbours.Conflict;
import ipmasq.evidence.neighbours.Neighbours;
import ipmasq.evidence.neighbours.NodeLinks;
import ipmasq.evidence.neighbours.Question;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.policy.Policy;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.KubeProxyRules;
import ipmasq.testkit.Namespace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A look at the hook beside very much of others: right, and its cost printed. The long form has
 * 50,000 rules and 1,500,000 elements.
 */
@KernelTest
@Tag("agreement")
@Timeout(300)
class LookCostTest {
  private static final boolean LONG = Integer.getInteger("ipmasq.agreement.configs", 0) > 50;
  private static final int LOOKS = 20;
  private static final Policy POLICY = Config.defaults().policy(Family.IPV4);
  private static final NodeLinks LINKS =
      new NodeLinks(List.of("eth0"), List.of(), List.of(), List.of());
  private static final Neighbours.Ours OURS =
      new Neighbours.Ours("iptables-nft", "IP-MASQ-AGENT", Optional.of(POLICY));

  @Test
  void besideKubeProxy() throws IOException {
    int services = LONG ? 5000 : 300;
    try (Namespace node = Namespace.open("node")) {
      node.feed(KubeProxyRules.nat(services), "iptables-nft-restore").ok();
      List<Conflict> conflicts = node.call(() -> measured(services * 10 + " rules of kube-proxy"));
      assertEquals(List.of(), conflicts);
      String service = KubeProxyRules.address(services - 1);
      String answer = node.call(() -> InProcess.run("explain", service));
      assertTrue(answer.contains("may be changed before, by a rule of kube-proxy"), answer);
    }
  }

  @Test
  void besideALongSet() throws IOException {
    int elements = LONG ? 1_500_000 : 20_000;
    try (Namespace node = Namespace.open("node")) {
      node.feed(
              """
              table ip mine {
                set many { type ipv4_addr; }
                chain post { type nat hook postrouting priority 90; ip daddr @many masquerade; }
              }
              """,
              "nft",
              "-f",
              "-")
          .ok();
      for (int from = 0; from < elements; from += 100_000) {
        node.feed(elements(from, Math.min(elements, from + 100_000)), "nft", "-f", "-").ok();
      }
      List<Conflict> conflicts = node.call(() -> measured("a set of " + elements + " elements"));
      assertEquals(Conflict.Kind.UNCLEAR, conflicts.getFirst().kind());
      assertEquals("translated", node.call(() -> actual("10.0.0.7")));
      assertEquals("kept", node.call(() -> actual("10.99.0.7")));
    }
  }

  private static String actual(String to) {
    Question question =
        new Question(
            Ip.of(to),
            Optional.empty(),
            Optional.empty(),
            OptionalInt.empty(),
            Optional.of("eth0"));
    try (Neighbours neighbours = new Neighbours()) {
      return neighbours
          .explain(question, Optional.of(POLICY), OURS, LINKS)
          .outcome()
          .orElseThrow()
          .word();
    }
  }

  private static String elements(int from, int to) {
    StringBuilder text = new StringBuilder("add element ip mine many { ");
    for (int i = from; i < to; i++) {
      text.append(i == from ? "" : ", ").append("10.").append(i >> 16).append('.');
      text.append(i >> 8 & 255).append('.').append(i & 255);
    }
    return text.append(" }\n").toString();
  }

  /** What this thread has used of a CPU. */
  private static long cpuNanos() throws IOException {
    String text = Files.readString(Path.of("/proc/thread-self/schedstat"));
    return Long.parseLong(text.substring(0, text.indexOf(' ')));
  }

  private static List<Conflict> measured(String beside) throws IOException {
    try (Neighbours neighbours = new Neighbours()) {
      List<Conflict> conflicts = neighbours.conflicts(POLICY, OURS, LINKS);
      long before = cpuNanos();
      for (int i = 0; i < LOOKS; i++) {
        conflicts = neighbours.conflicts(POLICY, OURS, LINKS);
      }
      long each = (cpuNanos() - before) / LOOKS;
      System.out.println("a look beside " + beside + ": " + each / 1000 + " µs of CPU");
      return conflicts;
    }
  }
}
