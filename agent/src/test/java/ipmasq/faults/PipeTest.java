package ipmasq.faults;

import static ipmasq.e2e.Expected.DEFAULTS;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.e2e.Node;
import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.KernelTest;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nobody reads what the agent logs. */
@KernelTest
@Tag("fault")
class PipeTest {
  /** A pipe holds so much. What the shell starts keeps its other end open and ends by itself. */
  private static final String FULL_PIPE =
      """
      mkfifo "$0"
      sleep 60 < "$0" &
      exec 2> "$0"
      head -c 65536 /dev/zero >&2
      exec "$@"
      """;

  @Test
  void aFullPipeStopsNothing(@TempDir Path directory) {
    try (Node node = Node.open()) {
      String pipe = directory.resolve("pipe").toString();
      AgentProcess agent = node.startBy(List.of("sh", "-c", FULL_PIPE, pipe), "--v=2");
      node.awaitRules(Family.IPV4, DEFAULTS);
      node.iptables(Family.IPV4, "-F IP-MASQ-AGENT");
      node.awaitRules(Family.IPV4, DEFAULTS);
      agent.terminate();
      // A second exit code tells of an end that had to be forced after five seconds.
      assertEquals(0, agent.awaitExit());
    }
  }
}
