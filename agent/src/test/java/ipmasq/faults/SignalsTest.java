package ipmasq.faults;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.e2e.Node;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.KernelTest;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Signals by the hundred, at any moment: one end, soon, and whole rules. */
@KernelTest
@Tag("fault")
@Execution(ExecutionMode.CONCURRENT)
class SignalsTest {
  private static final Random RANDOM = new Random();

  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void aStorm(String backend) {
    try (Node node = Node.open()) {
      node.volume().publish(World.OLD.file());
      State nothing = State.of(node);
      long start = System.nanoTime();
      AgentProcess first = node.running("--backend=" + backend);
      long time = System.nanoTime() - start;
      State whole = State.of(node);
      first.kill();
      first.awaitExit();
      for (int i = 0; i < Form.of(3, 50); i++) {
        node.namespace().nft("flush", "ruleset");
        AgentProcess agent = node.start("--backend=" + backend);
        LockSupport.parkNanos((long) (time * 1.5 * RANDOM.nextDouble()));
        node.namespace()
            .run(
                "/bin/sh",
                "-c",
                "for i in 1 2 3 4 5 6 7 8 9 10; do for s in TERM INT TERM HUP TERM TERM; do"
                    + " kill -$s $1 2>/dev/null; done; done; true",
                "sh",
                String.valueOf(agent.pid()));
        int code = agent.awaitExit(Duration.ofSeconds(10));
        // Before the agent itself listens to signals, Java does; before that its launcher gives up.
        boolean begun = agent.stderr().stream().anyMatch(line -> line.contains(" starts"));
        List<Integer> fine = begun ? List.of(0, 143, 130, 129) : List.of(0, 143, 130, 129, 1);
        assertTrue(fine.contains(code), () -> "code " + code + " of " + agent);
        State left = State.of(node);
        assertTrue(left.madeOf(nothing, whole), left::toString);
      }
    }
  }
}
