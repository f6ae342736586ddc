package ipmasq.cli;

import ipmasq.app.Backends;
import ipmasq.app.ConflictWatch;
import ipmasq.app.NodeAddresses;
import ipmasq.app.StatusServer;
import ipmasq.backend.Backend;
import ipmasq.backend.Observation;
import ipmasq.config.Config;
import ipmasq.config.Config.BackendChoice;
import ipmasq.config.Key;
import ipmasq.config.Reading;
import ipmasq.evidence.neighbours.Conflict;
import ipmasq.evidence.neighbours.Neighbours;
import ipmasq.http.Fetch;
import ipmasq.net.Family;
import ipmasq.policy.Policy;
import ipmasq.status.Status;
import ipmasq.status.StatusHandler;
import ipmasq.status.StatusJson;
import ipmasq.status.StatusText;
import ipmasq.status.StatusTracker;
import ipmasq.sync.SyncReport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** {@code status}: the state from the running agent or, without one, from file and kernel. */
final class ShowStatus {
  private static final int CAP_NET_ADMIN = 12;

  private ShowStatus() {}

  static int run(CommandContext context) {
    Optional<RunningAgent> agent = RunningAgent.find();
    Optional<NodeProcess> other = NodeProcess.goAgent();
    if (agent.filter(RunningAgent::writes).isPresent() && other.isPresent()) {
      context
          .err()
          .println(
              other.get().asForeignAgent()
                  + ": the two rewrite each other's rules, or both act on packets; stop one.");
    }
    Optional<InetSocketAddress> address =
        context
            .settings()
            .listen()
            .map(RunningAgent::reachable)
            .or(() -> agent.filter(it -> !it.process().isStopped()).flatMap(RunningAgent::asked));
    String silence = "it does not listen";
    if (address.isPresent()) {
      try {
        return remote(context, address.get());
      } catch (IOException silent) {
        silence = String.valueOf(silent.getMessage());
        context.err().println(silence(address.get(), silence));
      }
    } else if (agent.isPresent() && !agent.get().line().has(Flag.LISTEN)) {
      context
          .err()
          .println(
              "The agent (process "
                  + agent.get().pid()
                  + ") does not listen, so its history is not known: start it with --listen.");
    }
    return mayRead() ? local(context, agent, agent(agent, other, silence)) : cannotTell(context);
  }

  /**
   * @param silence why the agent does not answer, if it should
   */
  private static Status.Agent agent(
      Optional<RunningAgent> agent, Optional<NodeProcess> other, String silence) {
    if (agent.isEmpty()) {
      return other.isPresent()
          ? new Status.Agent.Foreign(other.get().pid())
          : new Status.Agent.None();
    }
    if (agent.get().process().isStopped()) {
      return new Status.Agent.Unresponsive(agent.get().pid(), "a signal stopped it");
    }
    if (agent.get().line().has(Flag.LISTEN)) {
      return new Status.Agent.Unresponsive(agent.get().pid(), silence);
    }
    return agent.get().writes() ? new Status.Agent.Running() : new Status.Agent.DryRun();
  }

  /** Whether this process may read rules at all. */
  private static boolean mayRead() {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
        if (line.startsWith("CapEff:")) {
          return (Long.parseUnsignedLong(line.substring(7).strip(), 16) & 1L << CAP_NET_ADMIN) != 0;
        }
      }
    } catch (IOException noProc) {
      // The kernel will report it.
    }
    return true;
  }

  /** Without the right to look, there is nothing to say about the node. */
  private static int cannotTell(CommandContext context) {
    String sentence =
        "The state cannot be told: reading the rules needs NET_ADMIN; run as root, or name the"
            + " agent's address with --listen.";
    if (context.json()) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("ok", false);
      fields.put("summary", sentence);
      context.printJson(fields);
    } else {
      context.out().println(sentence);
    }
    return Main.FAILED;
  }

  private static String silence(InetSocketAddress where, String why) {
    return "No answer from %s port %d (%s). What follows comes from the file and the kernel."
        .formatted(where.getAddress().getHostAddress(), where.getPort(), why);
  }

  private static int remote(CommandContext context, InetSocketAddress where) throws IOException {
    Fetch.Fetched answer = Fetch.get(where, context.json() ? "/api/status" : "/api/status.txt");
    if (answer.status() != 200) {
      throw new IOException(answer.body().strip());
    }
    context.out().print(answer.body());
    boolean ok = answer.header(StatusHandler.OK).equals(Optional.of("true"));
    return ok ? Main.OK : Main.FAILED;
  }

  /** The state as a sync would see it, without writing. */
  private static int local(
      CommandContext context, Optional<RunningAgent> running, Status.Agent agent) {
    Reading reading = context.read();
    boolean elsewhere = running.isEmpty() || running.get().line().has(Key.BACKEND);
    Optional<Reading> left = elsewhere ? asFound(context, reading) : Optional.empty();
    SyncReport found = context.sync(left.orElse(reading), false);
    SyncReport report = left.isPresent() ? found.because("where our rules are") : found;
    Config config = report.config();
    Backend backend = context.backends().places(config).getFirst();
    Map<Family, Observation> rules = new EnumMap<>(Family.class);
    report.results().keySet().forEach(family -> rules.put(family, backend.observe(family)));
    StatusTracker tracker =
        new StatusTracker(StatusServer.identity(Optional.empty(), agent), List::of);
    tracker.accept(report);
    Status.Sample sample =
        new Status.Sample(report.at(), rules, conflicts(config, backend.name(), rules));
    Status status = tracker.status().orElseThrow().with(sample, Optional.empty(), report.at());
    context.out().print(context.json() ? StatusJson.of(status) + "\n" : StatusText.of(status));
    return status.headline().ok() ? Main.OK : Main.FAILED;
  }

  /**
   * With the backend that holds our rules, where an agent with the flags of this command would use
   * another; empty if it would not.
   */
  private static Optional<Reading> asFound(CommandContext context, Reading reading) {
    if (!(reading
            instanceof Reading.Read(var config, var warnings, var sources, var lines, var gap))
        || config.backend() != BackendChoice.AUTO) {
      return Optional.empty();
    }
    List<Backend> places = context.backends().places(config);
    return CommandContext.holder(places, List.of(Family.values()))
        .filter(holder -> holder != places.getFirst())
        .map(Backend::name)
        .map(name -> new Reading.Read(Backends.fixed(config, name), warnings, sources, lines, gap));
  }

  private static Optional<List<Conflict>> conflicts(
      Config config, String backend, Map<Family, Observation> rules) {
    List<Conflict> conflicts = new ArrayList<>();
    if (ConflictWatch.has(config.backend())) {
      try (Neighbours neighbours = new Neighbours()) {
        rules.forEach(
            (family, observation) -> {
              Optional<Policy> policy =
                  observation instanceof Observation.Seen(var observed)
                      ? observed.policy()
                      : Optional.empty();
              Neighbours.Ours ours = new Neighbours.Ours(backend, config.masqChain(), policy);
              conflicts.addAll(
                  neighbours.conflicts(config.policy(family), ours, NodeAddresses.links()));
            });
      }
    }
    return Optional.of(conflicts);
  }
}
