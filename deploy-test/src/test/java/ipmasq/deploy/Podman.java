package ipmasq.deploy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ipmasq.testkit.Namespace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The container engine, and the image that {@code make container} has built. */
final class Podman {
  /** Some machines start processes with limits above what the engine may hand on. */
  private static final String SETTINGS =
      """
      [containers]
      default_ulimits = ["nofile=20000:20000", "nproc=20000:20000"]
      """;

  private static Path settings;

  private Podman() {}

  /** What a command said and how it ended. */
  record Said(int exit, String text) {
    String ok() {
      assertEquals(0, exit, text);
      return text.strip();
    }
  }

  static Said podman(String... arguments) throws IOException, InterruptedException {
    return said(new ProcessBuilder(command(arguments)));
  }

  /** The same with a namespace as the host's network, for pods that want that. */
  static Said podmanIn(Namespace host, String... arguments)
      throws IOException, InterruptedException {
    // Not by `ip netns exec`: that hides the control groups.
    var command = new ArrayList<>(List.of("nsenter", "--net=/run/netns/" + host.name()));
    command.addAll(command(arguments));
    return said(new ProcessBuilder(command));
  }

  private static List<String> command(String... arguments) {
    var command = new ArrayList<>(List.of("podman", "--runtime=runc"));
    command.addAll(List.of(arguments));
    return command;
  }

  private static Said said(ProcessBuilder builder) throws IOException, InterruptedException {
    builder.environment().put("CONTAINERS_CONF", settings().toString());
    var process = builder.redirectErrorStream(true).start();
    process.getOutputStream().close();
    var text = new String(process.getInputStream().readAllBytes());
    return new Said(process.waitFor(), text);
  }

  /**
   * One file for all commands: what the engine starts when a container ends reads it again, and
   * without it a wait for that end takes 20 s.
   */
  private static synchronized Path settings() throws IOException {
    if (settings == null) {
      var file = Files.createTempFile("ipmq-", ".conf");
      file.toFile().deleteOnExit();
      Files.writeString(file, SETTINGS);
      settings = file;
    }
    return settings;
  }

  /** An image in the engine's store: the name that it got there, and the ID that is its own. */
  record Loaded(String name, String id) {}

  /** Loads the image; skips where there is none. */
  static Loaded load() throws IOException, InterruptedException {
    var archive = BuiltImage.archive();
    assumeTrue(isHere(), "no podman here: run `tools/needs container-test` as root");
    var said = podman("load", "--quiet", "--input", archive.toString()).ok();
    var name = said.substring(said.lastIndexOf(' ') + 1);
    // By its ID: tests elsewhere on this machine may load another under the same name.
    return new Loaded(name, podman("image", "inspect", "--format={{.Id}}", name).ok());
  }

  private static boolean isHere() throws InterruptedException {
    try {
      return podman("--version").exit() == 0;
    } catch (IOException e) {
      return false;
    }
  }
}
