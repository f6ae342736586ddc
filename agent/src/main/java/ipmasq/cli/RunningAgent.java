package ipmasq.cli;

import ipmasq.app.NodeProcess;
import ipmasq.http.Fetch;
import ipmasq.http.Listen;
import ipmasq.status.StatusHandler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The agent that runs on this node, found among the processes of root, so that nothing has to be
 * written anywhere: the container's file system is read-only.
 *
 * @param line its command line
 */
record RunningAgent(NodeProcess process, CommandLine line) {
  private static final String MAIN = Main.class.getName();
  private static final Set<String> GO_AGENTS = Set.of("ip-masq-agent", "ip-masq-agent-v2");

  static Optional<RunningAgent> find() {
    return NodeProcess.others()
        .filter(process -> process.executable().equals("java"))
        .flatMap(process -> of(process).stream())
        .filter(agent -> agent.process.isOfRootHere())
        .findFirst();
  }

  private static Optional<RunningAgent> of(NodeProcess process) {
    List<String> words = process.arguments();
    for (int i = 1; i < words.size(); i++) {
      if (words.get(i).equals(MAIN) || words.get(i).endsWith("/" + MAIN)) {
        try {
          CommandLine line = CommandLine.parse(words.subList(i + 1, words.size()));
          return Optional.of(new RunningAgent(process, line))
              .filter(_ -> line.command() == Command.RUN);
        } catch (WrongUsage notOurs) {
          return Optional.empty();
        }
      }
    }
    return Optional.empty();
  }

  /** A Go agent, known by its executable: our launcher is a script by that name, run by a shell. */
  static Optional<NodeProcess> another() {
    return NodeProcess.others()
        .filter(process -> GO_AGENTS.contains(process.executable()) && process.isOfRootHere())
        .findFirst();
  }

  /** The beginning of a sentence about a Go agent. */
  static String sentence(NodeProcess another) {
    return "another ip-masq-agent runs here (process " + another.pid() + "), not this one";
  }

  long pid() {
    return process.pid();
  }

  boolean writes() {
    return !line.isOn(Flag.DRY_RUN);
  }

  /** Whether a signal stopped it, so that it does nothing until another continues it. */
  boolean isStopped() {
    return process.field("State").matches("[Tt] .*");
  }

  /** Where it can be asked: at a socket that is its own; port 0 was the kernel's choice. */
  Optional<InetSocketAddress> asked() {
    Optional<InetSocketAddress> listen = line.text(Flag.LISTEN).flatMap(Listen::parse);
    return listen.flatMap(
        it ->
            process.ports().stream()
                .filter(port -> it.getPort() == 0 || it.getPort() == port)
                .findFirst()
                .map(port -> reachable(new InetSocketAddress(it.getAddress(), port))));
  }

  /** The address to connect to: a wildcard address is reached over loopback. */
  static InetSocketAddress reachable(InetSocketAddress listen) {
    return listen.getAddress().isAnyLocalAddress()
        ? new InetSocketAddress(InetAddress.getLoopbackAddress(), listen.getPort())
        : listen;
  }

  /** The backend that it uses; empty if it cannot be asked. */
  Optional<String> backend() {
    try {
      Optional<InetSocketAddress> where = asked();
      return where.isPresent()
          ? Fetch.get(where.get(), "/api/status").header(StatusHandler.BACKEND)
          : Optional.empty();
    } catch (IOException silent) {
      return Optional.empty();
    }
  }
}
