package ipmasq.deploy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ipmasq.testkit.Eventually;
import ipmasq.testkit.KernelTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The image as a node's containerd takes it, in a containerd with folders of its own. */
@KernelTest
class ContainerdTest {
  @TempDir private Path folder;
  private Process daemon;

  @BeforeEach
  void start() throws Exception {
    BuiltImage.archive();
    assumeTrue(
        Files.exists(Path.of("/usr/bin/containerd")),
        "no containerd here: run `tools/needs container-test` as root");
    var config = folder.resolve("config.toml");
    Files.writeString(
        config,
        """
        version = 2
        root = "FOLDER/root"
        state = "FOLDER/state"
        disabled_plugins = ["io.containerd.grpc.v1.cri"]
        [grpc]
        address = "FOLDER/socket"
        """
            .replace("FOLDER", folder.toString()));
    daemon =
        new ProcessBuilder("containerd", "--config", config.toString())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("log").toFile())
            .start();
    Eventually.eventually("it serves", this::log, log -> log.contains("successfully booted"));
  }

  @AfterEach
  void stop() throws Exception {
    if (daemon != null) {
      daemon.destroy();
      assertTrue(daemon.waitFor(30, TimeUnit.SECONDS), "containerd ends");
    }
  }

  @Test
  void importedItHasTheNameThatAKubeletAsksFor() throws Exception {
    ctr("import", BuiltImage.archive().toString());
    assertEquals(name(), ctr("ls", "--quiet"));
  }

  @Test
  void soDoesKind() throws Exception {
    // What `kind load image-archive` runs inside a node.
    ctr("import", "--all-platforms", "--digests", BuiltImage.archive().toString());
    assertTrue(ctr("ls", "--quiet").lines().anyMatch(name()::equals));
  }

  private static String name() throws IOException {
    return "docker.io/library/ip-masq-agent:" + Project.version();
  }

  private String ctr(String... arguments) {
    var command =
        new ArrayList<>(
            List.of(
                "ctr", "--address=" + folder.resolve("socket"), "--namespace=k8s.io", "images"));
    command.addAll(List.of(arguments));
    try {
      var process = new ProcessBuilder(command).redirectErrorStream(true).start();
      var said = new String(process.getInputStream().readAllBytes()).strip();
      assertEquals(0, process.waitFor(), said);
      return said;
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  private String log() {
    try {
      return Files.readString(folder.resolve("log"));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
