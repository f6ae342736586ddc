package ipmasq.faults;

import ipmasq.e2e.Expected;
import ipmasq.e2e.Node;
import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.KernelTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever happens to the config file and its directory, the file is followed afterwards. */
@KernelTest
@Tag("fault")
@Execution(ExecutionMode.CONCURRENT)
class WatchTest {
  /** So long that the file is read for no other reason than that it changed. */
  private static final String NO_RESYNC = "--resync-interval=3600";

  private static String config(int number) {
    return "nonMasqueradeCIDRs: [10." + number + ".0.0/16]\n";
  }

  private static void awaitRules(Node node, int number) {
    node.awaitRules(Family.IPV4, Expected.rules(Expected.LINK_LOCAL, "10." + number + ".0.0/16"));
  }

  /** Four megabytes, with the list at the end; {@code $0} is the config file. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "dd bs=4k iflag=fullblock of=\"$0\"",
        "awk '{ print > \"'\"$0\"'\" } NR % 50 == 0 { fflush() }'"
      })
  void aBurstOfWrites(String writer) {
    try (Node node = Node.open()) {
      node.volume().write(config(1));
      node.running(NO_RESYNC);
      for (int number = 2; number < 5; number++) {
        String lines = "{ yes '# a line of a long comment' | head -c 4000000; echo; echo '%s'; }";
        String script = lines.formatted(config(number).strip()) + " | " + writer;
        node.namespace().run("sh", "-c", script, node.volume().file().toString()).ok();
        awaitRules(node, number);
      }
      node.volume().write(config(5));
      awaitRules(node, 5);
    }
  }

  @Test
  void swapsOfTheVolumeOneRightAfterTheOther() {
    try (Node node = Node.open()) {
      node.volume().publish(config(0));
      node.running(NO_RESYNC);
      for (int number = 1; number <= 200; number++) {
        node.volume().publish(config(number));
        if (number % 20 == 0) {
          awaitRules(node, number);
        }
      }
    }
  }

  @Test
  void aDirectoryThatIsRenamedAwayAndReplaced() throws IOException {
    try (Node node = Node.open()) {
      Path directory = node.volume().directory();
      Path before = directory.resolveSibling(directory.getFileName() + "-before");
      node.volume().publish(config(1));
      node.running(NO_RESYNC);
      Files.move(directory, before);
      Files.createDirectory(directory);
      node.volume().write(config(2));
      awaitRules(node, 2);
      node.volume().write(config(3));
      awaitRules(node, 3);
      // And the first one again, which changes as it always did.
      node.volume().remove();
      Files.delete(directory);
      Files.move(before, directory);
      awaitRules(node, 1);
      node.volume().publish(config(4));
      awaitRules(node, 4);
    }
  }

  /** As when a volume is mounted anew over its own place, and taken away again. */
  @Test
  void aVolumeThatComesAndGoes() {
    try (Node node = Node.open()) {
      node.volume().publish(config(1));
      AgentProcess agent = node.startBy(List.of("unshare", "--mount"), NO_RESYNC);
      awaitRules(node, 1);
      inMounts(node, agent, "mount -t tmpfs none \"$0\" && echo '" + config(2) + "' > \"$1\"");
      awaitRules(node, 2);
      inMounts(node, agent, "echo '" + config(3) + "' > \"$1\"");
      awaitRules(node, 3);
      inMounts(node, agent, "umount \"$0\"");
      awaitRules(node, 1);
      node.volume().publish(config(4));
      awaitRules(node, 4);
    }
  }

  /** Runs a line of shell where the agent sees its files. */
  private static void inMounts(Node node, AgentProcess agent, String line) {
    Path directory = node.volume().directory();
    String file = node.volume().file().toString();
    String pid = String.valueOf(agent.pid());
    node.namespace()
        .run("nsenter", "-t", pid, "-m", "sh", "-c", line, directory.toString(), file)
        .ok();
  }
}
