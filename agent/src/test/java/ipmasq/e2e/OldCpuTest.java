package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Namespace;
import ipmasq.testkit.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * The built agent on an x86 CPU of 2008, by an emulator of one process. A cache that holds machine
 * code of the building CPU ends in SIGILL there (exit 134), as it would on an older node.
 */
@KernelTest
@EnabledIfSystemProperty(named = "os.arch", matches = "amd64")
class OldCpuTest {
  private static final Pattern MAIN = Pattern.compile(" -m (\\S+)");
  @TempDir private Path directory;

  @Test
  void theAgentAnswersOnAnOldCpu() throws IOException {
    Path config = directory.resolve("ip-masq-agent");
    Files.writeString(config, "nonMasqueradeCIDRs: [10.0.0.0/8]\n");
    try (Namespace namespace = Namespace.open("cpu")) {
      assertTrue(agent(namespace, "version").ok().startsWith("ip-masq-agent "));
      Result explained =
          agent(namespace, "explain", "--config", config.toString(), "10.1.2.3", "8.8.8.8");
      assertEquals(0, explained.exit(), explained.toString());
      assertTrue(explained.ok().contains("10.1.2.3"), explained.toString());
      assertTrue(explained.ok().contains("8.8.8.8"), explained.toString());
    }
  }

  /** The launcher's command line: what it starts would not be emulated if it were run instead. */
  private static Result agent(Namespace namespace, String... arguments) throws IOException {
    Path launcher = AgentProcess.builtAgent();
    Path home = launcher.getParent().getParent();
    var main = MAIN.matcher(Files.readString(launcher));
    assertTrue(main.find(), "the launcher names no main class");
    List<String> command = new ArrayList<>(List.of("qemu-x86_64-static", "-cpu", "Nehalem-v1"));
    command.add(home.resolve("runtime/bin/java").toString());
    command.add("-XX:AOTMode=on"); // or Java would shrug at a cache that it cannot use
    command.add("-XX:AOTCache=" + home.resolve("agent.aot"));
    command.add("-XX:ErrorFile=/dev/null");
    command.add("@" + home.resolve("java.args"));
    command.addAll(List.of("-m", main.group(1)));
    command.addAll(List.of(arguments));
    return namespace.runWithin(Duration.ofMinutes(1), command.toArray(String[]::new));
  }
}
