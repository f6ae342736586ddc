package ipmasq.deploy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Namespace;
import ipmasq.testkit.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The arm64 image on a machine of another kind, as far as an emulator of one process goes: it
 * cannot start iptables, and knows nothing of netlink.
 */
@KernelTest
class EmulatedTest {
  private static final Path EMULATOR = Path.of("/usr/bin/qemu-aarch64-static");
  @TempDir private Path root;
  private Namespace host;
  private BuiltImage built;
  private BuiltImage.Platform arm64;

  @BeforeEach
  void unpack() throws Exception {
    assumeTrue(
        Files.exists(EMULATOR), "no emulator: run `tools/needs other-architectures` as root");
    built = BuiltImage.last();
    var found =
        built.platforms().stream().filter(p -> p.architecture().equals("arm64")).findFirst();
    assumeTrue(found.isPresent(), "no arm64 in the image: make all-container");
    arm64 = found.get();
    host = Namespace.open("arm64");
    for (var layer : arm64.layers()) {
      host.run("tar", "-xzf", layer.toString(), "-C", root.toString()).ok();
    }
    Files.copy(EMULATOR, root.resolve("emulator"));
    root.resolve("emulator").toFile().setExecutable(true);
  }

  @AfterEach
  void close() {
    if (host != null) {
      host.close();
    }
  }

  @Test
  void theAgentRuns() throws Exception {
    assertTrue(agent("--version").ok().startsWith("ip-masq-agent " + built.tag()));

    var config = root.resolve("etc/config/ip-masq-agent");
    Files.writeString(config, "nonMasqueradeCIDRs: [10.0.0.0/8]\n");
    assertTrue(agent("check", "/etc/config/ip-masq-agent").ok().contains("good: 1 range"));
    Files.writeString(config, "nonMasqueradeCIDRs: [10.0.0.1/8]\n");
    var said = agent("check", "/etc/config/ip-masq-agent");
    assertEquals(1, said.exit(), said.toString());
    assertTrue(said.toString().contains("/etc/config/ip-masq-agent:1:22: "), said.toString());
  }

  @Test
  void itsCacheFits() {
    // Java shrugs at a cache that does not fit, unless it is told to insist.
    emulated(java("-XX:AOTMode=on", "--version")).ok();
  }

  @Test
  void bothKindsOfIptablesRun() {
    // Saving tells the version before it asks the kernel.
    assertTrue(
        emulated(List.of("/usr/sbin/iptables-nft-save", "--version")).ok().contains("(nf_tables)"));
    assertTrue(
        emulated(List.of("/usr/sbin/iptables-legacy-save", "--version")).ok().contains("(legacy)"));
  }

  private Result agent(String... arguments) {
    return emulated(java("-XX:AOTMode=auto", arguments));
  }

  /** What the launcher becomes: an emulator of one process cannot run the launcher's exec. */
  private static List<String> java(String mode, String... arguments) {
    var home = "/usr/lib/ip-masq-agent";
    var command =
        new ArrayList<>(
            List.of(
                home + "/runtime/bin/java",
                mode,
                "-XX:AOTCache=" + home + "/agent.aot",
                "@" + home + "/java.args",
                "-m",
                "ipmasq.agent/ipmasq.cli.Main"));
    command.addAll(List.of(arguments));
    return command;
  }

  private Result emulated(List<String> command) {
    var whole = new ArrayList<>(List.of("chroot", root.toString(), "/emulator"));
    whole.addAll(command);
    return host.runWithin(Duration.ofMinutes(1), whole.toArray(String[]::new));
  }
}
