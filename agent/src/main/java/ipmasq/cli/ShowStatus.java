package ipmasq.cli;

import ipmasq.app.ConflictWatch;
import ipmasq.app.NodeAddresses;
import ipmasq.app.NodeProcess;
import ipmasq.app.StatusServer;
import ipmasq.backend.Backend;
import ipmasq.backend.Observation;
import ipmasq.config.Config;
import ipmasq.config.Reading;
import ipmasq.evidence.flows.TableReport;
import ipmasq.evidence.neighbours.Conflict;
import ipmasq.evidence.neighbours.Neighbours;
import ipmasq.http.Fetch;
import ipmasq.http.Listen;
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
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** {@code status}: the state from the running agent or, without one, from file and kernel. */
final class ShowStatus {
  private static final int CAP_NET_ADMIN = 12;

  private ShowStatus() {}

  static int run(CommandContext context) {
    if (context.isOn(Flag.PORTS)) {
      return ports(context);
    }
    Optional<RunningAgent> agent = context.agent();
    Optional<NodeProcess> another = RunningAgent.another();
    if (agent.filter(RunningAgent::writes).isPresent() && another.isPresent()) {
      String both = ": the two rewrite each other's rules, or both act on packets; stop one.";
      context.err().println(RunningAgent.sentence(another.get()) + both);
    }
    Optional<InetSocketAddress> address =
        context
            .line()
            .text(Flag.LISTEN)
            .flatMap(Listen::parse)
            .map(RunningAgent::reachable)
            .or(() -> agent.filter(it -> !it.isStopped()).flatMap(RunningAgent::asked));
    String silence = "it does not listen";
    if (address.isPresent()) {
      try {
        return remote(context, address.get());
      } catch (IOException silent) {
        silence = String.valueOf(silent.getMessage());
        String where =
            address.get().getAddress().getHostAddress() + " port " + address.get().getPort();
        String next = "). What follows comes from the file and the kernel.";
        context.err().println("No answer from " + where + " (" + silence + next);
      }
    } else if (agent.isPresent() && !agent.get().line().has(Flag.LISTEN)) {
      String next = ") does not listen, so its history is not known: start it with --listen.";
      context.err().println("The agent (process " + agent.get().pid() + next);
    }
    if (mayRead()) {
      return local(context, agent(agent, another, silence));
    }
    String unknown =
        "the state cannot be told: reading the rules needs NET_ADMIN; run as root, or name the"
            + " agent's address with --listen";
    if (context.json()) {
      context.printJson(Map.of("ok", false, "summary", unknown));
    }
    return context.fail(unknown);
  }

  /** How close masquerading is to running out of ports. */
  private static int ports(CommandContext context) {
    Config config = context.config(context.read());
    Map<Family, Policy> policies = new EnumMap<>(Family.class);
    for (Family family : Family.values()) {
      policies.put(family, config.policy(family));
    }
    Optional<TableReport> report =
        NodeAddresses.forFlows().flatMap(node -> TableReport.read(Map.of(), policies, node));
    if (report.isEmpty()) {
      return context.fail("the connection table cannot be read: run it as root on the node");
    }
    if (context.json()) {
      context.printJson(report.get().fields());
    } else {
      if (report.get().ports().isEmpty()) {
        context.print("no destination has more than a few flows");
      }
      report.get().lines().forEach(context::print);
    }
    return Main.OK;
  }

  /**
   * @param silence why the agent does not answer, if it should
   */
  private static Status.Agent agent(
      Optional<RunningAgent> agent, Optional<NodeProcess> another, String silence) {
    if (agent.isEmpty()) {
      return another.isPresent()
          ? new Status.Agent.Foreign(another.get().pid())
          : new Status.Agent.None();
    }
    if (agent.get().isStopped()) {
      return new Status.Agent.Unresponsive(agent.get().pid(), "a signal stopped it");
    }
    if (agent.get().line().has(Flag.LISTEN)) {
      return new Status.Agent.Unresponsive(agent.get().pid(), silence);
    }
    return agent.get().writes() ? new Status.Agent.Running() : new Status.Agent.DryRun();
  }

  /** Whether this process may read rules at all. */
  private static boolean mayRead() {
    String capabilities = NodeProcess.SELF.field("CapEff");
    return capabilities.isEmpty()
        || (Long.parseUnsignedLong(capabilities, 16) & 1L << CAP_NET_ADMIN) != 0;
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
  private static int local(CommandContext context, Status.Agent agent) {
    Reading reading = context.read();
    boolean isLocated = false;
    if (context.agent().isEmpty()
        && reading
            instanceof Reading.Read(var config, var warnings, var files, var keys, var gap)) {
      Config located = context.located(config);
      isLocated = located.backend() != config.backend();
      reading = new Reading.Read(located, warnings, files, keys, gap);
    }
    SyncReport found = context.sync(reading, false);
    SyncReport report = isLocated ? found.because("where our rules are") : found;
    Backend backend = context.backends().places(report.config()).getFirst();
    Map<Family, Observation> rules = new EnumMap<>(Family.class);
    report.results().keySet().forEach(family -> rules.put(family, backend.observe(family)));
    StatusTracker tracker =
        new StatusTracker(StatusServer.identity(Optional.empty(), agent), List::of);
    tracker.accept(report);
    Status.Sample sample =
        new Status.Sample(report.at(), rules, conflicts(report.config(), backend.name(), rules));
    Status status = tracker.status().orElseThrow().with(sample, Optional.empty(), report.at());
    context.out().print(context.json() ? StatusJson.of(status) + "\n" : StatusText.of(status));
    return status.headline().ok() ? Main.OK : Main.FAILED;
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
