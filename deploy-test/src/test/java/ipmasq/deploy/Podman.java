package ipmasq.deploy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ipmasq.testkit.Namespace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

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

  /** Loads the image and tells its name; skips where there is none. */
  static String image() throws IOException, InterruptedException {
    var archive = newest();
    assumeTrue(archive.isPresent(), "no image under dist: make container-test builds it");
    assumeTrue(isHere(), "no podman here: run `tools/needs container-test` as root");
    var said = podman("load", "--quiet", "--input", archive.get().toString()).ok();
    return said.substring(said.lastIndexOf(' ') + 1);
  }

  private static Optional<Path> newest() throws IOException {
    var dist = Project.file("dist");
    if (!Files.isDirectory(dist)) {
      return Optional.empty();
    }
    try (var files = Files.list(dist)) {
      return files
          .filter(f -> f.toString().endsWith(".oci.tar"))
          .max((a, b) -> Long.compare(a.toFile().lastModified(), b.toFile().lastModified()));
    }
  }

  private static boolean isHere() throws InterruptedException {
    try {
      return podman("--version").exit() == 0;
    } catch (IOException e) {
      return false;
    }
  }
}
