package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The same config under both backends: file, kernel and the outside host agree under each, and so
 * the backends agree with each other. The long form is {@code make agreement}.
 */
@KernelTest
@Tag("agreement")
@Execution(ExecutionMode.CONCURRENT)
class AgreementTest {
  private static final int CONFIGS = Integer.getInteger("ipmasq.agreement.configs", 5);
  private static final int FIRST = 10_000; // seeds that no other test has

  @ParameterizedTest
  @ValueSource(strings = {"even", "odd"})
  void onBothBackends(String half) {
    try (Lab lab = Lab.open();
        Node node = Node.in(lab.node())) {
      int pairs = 0;
      for (int seed = FIRST + (half.equals("even") ? 0 : 1); seed < FIRST + CONFIGS; seed += 2) {
        GeneratedConfig config = GeneratedConfig.of(seed);
        Map<Boolean, Integer> first = verdicts(config, "iptables", seed, lab, node);
        assertEquals(first, verdicts(config, "nftables", seed, lab, node), "seed " + seed);
        pairs += 2 * first.values().stream().mapToInt(i -> i).sum();
      }
      System.out.println("agreement, " + half + " half: " + pairs + " packets, one opinion");
    }
  }

  private static Map<Boolean, Integer> verdicts(
      GeneratedConfig config, String backend, int seed, Lab lab, Node node) {
    String text = config.text().replaceFirst("backend: \\w+", "backend: " + backend);
    GeneratedConfig told =
        new GeneratedConfig(text, config.ports(), config.addresses(), config.destinations());
    Map<Boolean, Integer> verdicts = new HashMap<>();
    try {
      PacketsTest.compare(told, lab, node, verdicts);
    } catch (AssertionError e) {
      throw new AssertionError("seed " + seed + ":\n" + text + e.getMessage(), e);
    }
    return verdicts;
  }
}
