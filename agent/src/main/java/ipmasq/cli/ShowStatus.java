package ipmasq.cli;

import ipmasq.app.Backends;
import ipmasq.app.NatHooks;
import ipmasq.app.NodeAddresses;
import ipmasq.app.StatusServer;
import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.config.Config;
import ipmasq.config.Config.BackendChoice;
import ipmasq.config.ConfigPaths.IfMissing;
import ipmasq.config.Reading;
import ipmasq.http.Fetch;
import ipmasq.loop.Pass;
import ipmasq.loop.Pass.Result;
import ipmasq.loop.Target;
import ipmasq.loop.Trigger;
import ipmasq.net.Family;
import ipmasq.plan.Change;
import ipmasq.policy.Policy;
import ipmasq.status.CounterSampler;
import ipmasq.status.HookSample;
import ipmasq.status.Keeper;
import ipmasq.status.StatusHandler;
import ipmasq.status.StatusJson;
import ipmasq.status.StatusText;
import ipmasq.status.StatusTracker;
import ipmasq.status.View;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** {@code status}: the state from the running agent or, without one, from file and kernel. */
final class ShowStatus {
  private static final int CAP_NET_ADMIN = 12;

  private ShowStatus() {}

  static int run(CommandContext context) {
    Optional<RunningAgent> agent = RunningAgent.find();
    Optional<OtherAgent> other = OtherAgent.find();
    if (agent.filter(RunningAgent::writes).isPresent() && other.isPresent()) {
      context
          .err()
          .println(
              other.get().words()
                  + ": the two rewrite each other's rules, or both act on packets; stop one.");
    }
    Keeper keeper = keeper(agent, other);
    Optional<InetSocketAddress> where =
        context
            .settings()
            .listen()
            .map(RunningAgent::reachable)
            .or(() -> agent.flatMap(RunningAgent::asked));
    if (where.isPresent()) {
      try {
        return remote(context, where.get());
      } catch (IOException silent) {
        context.err().println(silence(where.get(), silent));
        if (agent.isPresent() && where.equals(agent.flatMap(RunningAgent::asked))) {
          keeper = new Keeper.Silent(agent.get().pid(), String.valueOf(silent.getMessage()));
        }
      }
    } else if (agent.isPresent()) {
      context
          .err()
          .println(
              "The agent (process "
                  + agent.get().pid()
                  + (agent.get().listen().isPresent()
                      ? ") listens on a port that its command line does not tell, so its history"
                          + " is not known: name the port by --listen."
                      : ") does not listen, so its history is not known: start it with"
                          + " --listen."));
    }
    return mayLook() ? local(context, agent, keeper) : cannotTell(context);
  }

  private static Keeper keeper(Optional<RunningAgent> agent, Optional<OtherAgent> other) {
    if (agent.isPresent()) {
      return agent.get().isStopped()
          ? new Keeper.Silent(agent.get().pid(), "a signal stopped it")
          : agent.get().writes() ? new Keeper.Running() : new Keeper.DryRun();
    }
    return other.isPresent() ? new Keeper.OtherProgram(other.get().pid()) : new Keeper.Nobody();
  }

  /** Whether this process may read rules at all. */
  private static boolean mayLook() {
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

  private static int cannotTell(CommandContext context) {
    String sentence =
        "Cannot tell how this node is doing: run as root, or name the agent's address by --listen.";
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

  private static String silence(InetSocketAddress where, IOException why) {
    return "Nobody answers at "
        + where.getAddress().getHostAddress()
        + " port "
        + where.getPort()
        + " ("
        + why.getMessage()
        + "). What follows is what file and kernel say.";
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

  /** The state as a pass would see it, without writing. */
  private static int local(CommandContext context, Optional<RunningAgent> agent, Keeper keeper) {
    boolean its = agent.filter(it -> it.reads(context.settings().configs())).isPresent();
    Reading reading = its ? context.read(IfMissing.WARNING) : context.read();
    boolean elsewhere = agent.isEmpty() || agent.get().namesBackend();
    Optional<Reading> left = elsewhere ? asFound(context, reading) : Optional.empty();
    Pass looked = context.sync(left.orElse(reading), false).pass(Set.of(Trigger.START), false);
    Pass pass = looked.with(results(looked, keeper));
    if (left.isPresent()) {
      pass = pass.because("where our rules are");
    }
    Config config = pass.config();
    Backend backend = context.backends().target(context.backends().look(), config).backend();
    Map<Family, Observation> seen = new EnumMap<>(Family.class);
    pass.results().keySet().forEach(family -> seen.put(family, backend.observe(family)));
    Instant now = pass.at();
    StatusTracker tracker = new StatusTracker(StatusServer.identity(Optional.empty(), keeper));
    tracker.accept(pass);
    View view =
        new View(
            tracker.status().orElseThrow(),
            new CounterSampler.Sample(now, seen, hooks(config, backend.name(), seen)),
            now);
    context.out().print(context.json() ? StatusJson.of(view) + "\n" : StatusText.of(view));
    return view.state().ok() ? Main.OK : Main.FAILED;
  }

  /**
   * With the backend that holds our rules, where an agent with the flags of this command would use
   * another; empty if it would not.
   */
  private static Optional<Reading> asFound(CommandContext context, Reading reading) {
    if (!(reading instanceof Reading.Read(var config, var warnings, var sources, var places))
        || config.backend() != BackendChoice.AUTO) {
      return Optional.empty();
    }
    Target target = context.backends().target(context.backends().look(), config);
    if (holdsRules(target.backend())) {
      return Optional.empty();
    }
    return target.others().stream()
        .filter(ShowStatus::holdsRules)
        .findFirst()
        .map(Backend::name)
        .map(name -> new Reading.Read(Backends.fixed(config, name), warnings, sources, places));
  }

  private static boolean holdsRules(Backend backend) {
    return Arrays.stream(Family.values())
        .anyMatch(
            family ->
                backend.observe(family) instanceof Observation.Seen(var observed)
                    && observed.policy().isPresent());
  }

  private static Map<Family, HookSample> hooks(
      Config config, String backend, Map<Family, Observation> seen) {
    Map<Family, HookSample> hooks = new EnumMap<>(Family.class);
    if (NatHooks.has(config.backend())) {
      NatHooks look = new NatHooks();
      seen.forEach(
          (family, observation) -> {
            Optional<Policy> ours =
                observation instanceof Observation.Seen(var observed)
                    ? observed.policy()
                    : Optional.empty();
            hooks.put(
                family,
                HookSample.of(
                    look.at(family, backend, config.masqChain(), ours),
                    config.policy(family),
                    NodeAddresses.links()));
          });
    }
    return hooks;
  }

  /** Changes that a writing agent would have made by now count as missing. */
  private static Map<Family, Result> results(Pass looked, Keeper keeper) {
    String advice =
        switch (keeper) {
          case Keeper.DryRun() -> "";
          case Keeper.Running(), Keeper.Silent _ -> "look at the agent's log";
          case Keeper.OtherProgram _ -> "stop the other agent, and start this one";
          case Keeper.Nobody() -> "start the agent, or run apply";
        };
    Map<Family, Result> results = new EnumMap<>(looked.results());
    results.replaceAll(
        (_, result) ->
            result instanceof Result.Pending(var changes) && !advice.isEmpty()
                ? new Result.Failed(
                    new Failure(
                        "the rules are not what the config asks for: " + Change.few(changes),
                        advice))
                : result);
    return results;
  }
}
