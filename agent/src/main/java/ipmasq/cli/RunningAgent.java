package ipmasq.cli;

import ipmasq.http.Listen;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;

/**
 * The agent that runs on this node, found among the processes of root, so that nothing has to be
 * written anywhere: the container's file system is read-only.
 *
 * @param line its command line
 */
record RunningAgent(NodeProcess process, CommandLine line) {
  private static final String MAIN = Main.class.getName();

  static Optional<RunningAgent> find() {
    return NodeProcess.first(
        process ->
            process.executable().equals("java")
                ? run(process.arguments()).map(line -> new RunningAgent(process, line))
                : Optional.empty());
  }

  /** The command line of a {@code run}; empty if it is another command, or another program. */
  private static Optional<CommandLine> run(List<String> words) {
    for (int i = 1; i < words.size(); i++) {
      if (words.get(i).equals(MAIN) || words.get(i).endsWith("/" + MAIN)) {
        return CommandLine.parse(words.subList(i + 1, words.size()))
                    instanceof CommandLine.Parsed.Good<CommandLine>(var line)
                && (line.words().isEmpty() || line.words().getFirst().equals("run"))
            ? Optional.of(line)
            : Optional.empty();
      }
    }
    return Optional.empty();
  }

  long pid() {
    return process.pid();
  }

  boolean writes() {
    return !line.isOn(Flag.DRY_RUN);
  }

  /** Where it can be asked: at a socket that is its own. */
  Optional<InetSocketAddress> asked() {
    return line.text(Flag.LISTEN)
        .flatMap(Listen::parse)
        .flatMap(
            listen ->
                process
                    .listensOn(listen.getPort())
                    .map(port -> reachable(new InetSocketAddress(listen.getAddress(), port))));
  }

  /** The address to connect to: a wildcard address is reached over loopback. */
  static InetSocketAddress reachable(InetSocketAddress listen) {
    return listen.getAddress().isAnyLocalAddress()
        ? new InetSocketAddress(InetAddress.getLoopbackAddress(), listen.getPort())
        : listen;
  }
}
