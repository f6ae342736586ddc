package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.KernelTest;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The backend for Windows nodes, run here: it is files all the same. */
@KernelTest
@Execution(ExecutionMode.CONCURRENT)
class CniTest {
  private static final String WANTED = list("\"169.254.0.0/16\",\"10.0.0.0/8\"");

  /** So long that whatever happens in a test happens for another reason. */
  private static final String NO_RESYNC = "--resync-interval=3600";

  @TempDir Path directory;

  private static String list(String ranges) {
    return "{\"policies\":[{\"Type\":\"OutBoundNAT\",\"ExceptionList\":[" + ranges + "]}]}";
  }

  private void awaitWanted(Path file) throws Exception {
    Eventually.eventually(WANTED, () -> Files.readString(file), WANTED::equals);
  }

  @Test
  void aListThatSomebodyChangedIsHealedWithoutAResync() throws Exception {
    Path file = directory.resolve("10-net.conf");
    Files.writeString(file, list(""));
    try (Node node = Node.open()) {
      node.volume().write("nonMasqueradeCIDRs: [10.0.0.0/8]\n");
      AgentProcess agent = node.running("--backend=cni", "--cni-config=" + directory, NO_RESYNC);
      assertEquals(WANTED, Files.readString(file));
      // Edited, replaced, and joined by a new one, as an installer of a network plugin does it.
      Files.writeString(file, list("\"192.168.0.0/16\""));
      awaitWanted(file);
      Path other = Files.writeString(directory.resolve("other"), list("\"172.16.0.0/12\""));
      Files.move(other, file, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
      awaitWanted(file);
      Path added = Files.writeString(directory.resolve("05-new.conf"), list(""));
      awaitWanted(added);
      assertTrue(agent.running());
    }
  }

  @Test
  void aFifoAmongTheConfigsHoldsNothingUp() throws Exception {
    Path file = directory.resolve("10-net.conf");
    Files.writeString(file, list(""));
    try (Node node = Node.open()) {
      node.shell("mkfifo " + directory + "/00-pipe.conf " + file + ".ip-masq-agent.own").ok();
      node.volume().write("nonMasqueradeCIDRs: [10.0.0.0/8]\n");
      AgentProcess agent = node.running("--backend=cni", "--cni-config=" + directory, NO_RESYNC);
      agent.awaitLine(line -> line.contains("own: it is not a regular file"));
      Files.delete(Path.of(file + ".ip-masq-agent.own"));
      awaitWanted(file);
      agent.terminate();
      assertEquals(0, agent.awaitExit());
    }
  }
}
