package ipmasq.cli;

import ipmasq.http.Listen;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The agent that runs on this node, found by its command line, so that nothing has to be written
 * anywhere: the container's file system is read-only.
 *
 * @param line its command line
 */
record RunningAgent(long pid, CommandLine line) {
  private static final String MAIN = Main.class.getName();

  static Optional<RunningAgent> find() {
    return LocalProcesses.first(RunningAgent::agent);
  }

  private static Optional<RunningAgent> agent(Path process) {
    try {
      byte[] bytes = Files.readAllBytes(process.resolve("cmdline"));
      List<String> words = List.of(new String(bytes, StandardCharsets.UTF_8).split("\0"));
      return arguments(words)
          .flatMap(
              arguments ->
                  run(arguments).map(line -> new RunningAgent(LocalProcesses.pid(process), line)));
    } catch (IOException ended) {
      return Optional.empty();
    }
  }

  /** What follows the main class on Java's command line; empty if it is something else. */
  static Optional<List<String>> arguments(List<String> words) {
    for (int i = 1; i < words.size(); i++) {
      String word = words.get(i);
      if (word.equals(MAIN) || word.endsWith("/" + MAIN)) {
        return Optional.of(words.subList(i + 1, words.size()));
      }
    }
    return Optional.empty();
  }

  /** The command line of a {@code run}; empty if it is another command. */
  private static Optional<CommandLine> run(List<String> arguments) {
    return CommandLine.parse(arguments) instanceof CommandLine.ParsedLine.GoodLine(var line)
            && (line.words().isEmpty() || line.words().getFirst().equals("run"))
        ? Optional.of(line)
        : Optional.empty();
  }

  /** The listen address on its command line. */
  Optional<InetSocketAddress> listen() {
    return line.text(Flag.LISTEN).flatMap(Listen::parse).map(RunningAgent::reachable);
  }

  /** Whether these are the files that its command line names. */
  boolean reads(List<Path> configs) {
    return configs.equals(line.list(Flag.CONFIG).stream().map(Path::of).toList())
        || configs.equals(files(List.of()));
  }

  /** Whether its command line names a backend. */
  boolean namesBackend() {
    return line.has("backend");
  }

  /** Whether a signal stopped it, so that it does nothing until another continues it. */
  boolean isStopped() {
    try {
      String stat =
          Files.readString(LocalProcesses.PROC.resolve(String.valueOf(pid)).resolve("stat"));
      String state = stat.substring(stat.lastIndexOf(')') + 1).strip();
      return state.startsWith("T") || state.startsWith("t");
    } catch (IOException ended) {
      return false;
    }
  }

  /** The files that it reads, as this process sees them: the usual ones if it names none. */
  List<Path> files(List<Path> usual) {
    List<String> named = line.list(Flag.CONFIG);
    return (named.isEmpty() ? usual.stream().map(Path::toString) : named.stream())
        .map(file -> Path.of(seenFromHere(file)))
        .toList();
  }

  /** Where it can be asked. Port 0 is the kernel's choice, which a command line does not tell. */
  Optional<InetSocketAddress> asked() {
    return listen().filter(address -> address.getPort() != 0);
  }

  /** Whether it writes rules. */
  boolean writes() {
    return !line.isOn(Flag.DRY_RUN, false);
  }

  /** The path to a file as that process sees it: it may run in a container. */
  String seenFromHere(String path) {
    Path process = LocalProcesses.PROC.resolve(String.valueOf(pid));
    try {
      boolean sameMounts =
          Files.readSymbolicLink(process.resolve("ns/mnt"))
              .equals(Files.readSymbolicLink(LocalProcesses.PROC.resolve("self/ns/mnt")));
      Path absolute = Files.readSymbolicLink(process.resolve("cwd")).resolve(path);
      return sameMounts ? absolute.toString() : process.resolve("root") + absolute.toString();
    } catch (IOException notOurs) {
      return path;
    }
  }

  /** The address to connect to: a wildcard address is reached over loopback. */
  static InetSocketAddress reachable(InetSocketAddress listen) {
    return listen.getAddress().isAnyLocalAddress()
        ? new InetSocketAddress(InetAddress.getLoopbackAddress(), listen.getPort())
        : listen;
  }
}
