package ipmasq.deploy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A cluster that is a folder, behind a kubectl that is a script. Used by one thread. */
final class FakeCluster {
  private static final Path PLUGIN = Project.file("deploy/kubectl-ip_masq");
  private final Path folder;
  private final Path bin;
  private final Path temporary;

  FakeCluster(Path place, int nodes) throws IOException {
    folder = Files.createDirectories(place.resolve("cluster"));
    bin = Files.createDirectories(place.resolve("bin"));
    temporary = Files.createDirectories(place.resolve("tmp"));
    for (var part : List.of("maps", "refuses", "broken", "hangs", "says")) {
      Files.createDirectory(folder.resolve(part));
    }
    try (var script = FakeCluster.class.getResourceAsStream("/fake-kubectl")) {
      Files.copy(script, bin.resolve("kubectl"), StandardCopyOption.REPLACE_EXISTING);
    }
    bin.resolve("kubectl").toFile().setExecutable(true);
    var numbers = IntStream.rangeClosed(1, nodes).boxed().toList();
    write(
        "daemonset",
        """
        label k8s-app=ip-masq-agent
        node kubernetes.io/os=linux
        container agent
        argument --listen=127.0.0.1:10347
        argument --masq-chain=MINE
        volume 0
        config ip-masq-agent
        key config
        strategy RollingUpdate
        pace 10%%
        desired %1$d
        available %1$d
        updated %1$d
        """
            .formatted(nodes));
    write(
        "pods",
        numbers.stream()
            .map(i -> "n%d|a-%d|True|ip-masq-agent|r/ip-masq-agent:0.2.0||%n".formatted(i, i))
            .collect(Collectors.joining()));
    write("nodes", numbers.stream().map(i -> "n" + i + "|True\n").collect(Collectors.joining()));
  }

  /** Replaces what a line of one of its files says. */
  void edit(String path, String what, String by) throws IOException {
    var before = read(path);
    var after = before.replaceAll(what, by);
    if (after.equals(before)) {
      throw new AssertionError(what + " is not in " + before);
    }
    write(path, after);
  }

  /** What a run of the plugin said, and how it ended. */
  record Said(int exit, String out, String err) {
    /** The lines of a table without the spaces that align it. */
    List<String> lines() {
      return out.lines().map(line -> line.replaceAll(" {2,}", " | ")).toList();
    }
  }

  void write(String path, String text) {
    try {
      Files.writeString(folder.resolve(path), text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  boolean has(String path) {
    return Files.exists(folder.resolve(path));
  }

  String readIfThere(String path) throws IOException {
    return has(path) ? read(path) : "";
  }

  String read(String path) throws IOException {
    return Files.readString(folder.resolve(path));
  }

  /** A file beside the cluster, as a user has one. */
  String config(String text) throws IOException {
    return Files.writeString(folder.resolveSibling("my-config"), text).toString();
  }

  /** What kubectl was asked so far. */
  List<String> calls() throws IOException {
    return read("calls").lines().toList();
  }

  /** What a run has left behind. */
  List<String> leftovers() {
    return List.of(temporary.toFile().list());
  }

  Said run(String... arguments) throws IOException, InterruptedException {
    return runIn("dash", arguments);
  }

  /** The plugin, run by this shell. */
  Said runIn(String shell, String... arguments) throws IOException, InterruptedException {
    var command = new ArrayList<>(List.of(shell.split(" ")));
    var out = Files.createTempFile(temporary.getParent(), "out", "");
    var err = Files.createTempFile(temporary.getParent(), "err", "");
    var process =
        start(command, arguments)
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .redirectInput(Path.of("/dev/null").toFile())
            .start();
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
      throw new AssertionError("did not end: " + Files.readString(err));
    }
    return new Said(process.exitValue(), Files.readString(out), Files.readString(err));
  }

  /** The plugin after some words that start it. */
  ProcessBuilder start(List<String> before, String... arguments) {
    var command = new ArrayList<>(before);
    command.add(PLUGIN.toString());
    command.addAll(List.of(arguments));
    var builder = new ProcessBuilder(command);
    builder.environment().put("CLUSTER", folder.toString());
    builder.environment().put("TMPDIR", temporary.toString());
    builder.environment().merge("PATH", bin.toString(), (path, mine) -> mine + ":" + path);
    return builder;
  }
}
