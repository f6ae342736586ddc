package ipmasq.cli;

import ipmasq.backend.Backend;
import ipmasq.backend.Chosen;
import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.config.Config;
import ipmasq.config.Reading;
import ipmasq.hook.Hook;
import ipmasq.http.Fetch;
import ipmasq.loop.Footing;
import ipmasq.loop.Pass;
import ipmasq.loop.Pass.Basis;
import ipmasq.loop.Pass.Result;
import ipmasq.loop.Trigger;
import ipmasq.net.Family;
import ipmasq.plan.Change;
import ipmasq.plan.Observed;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import ipmasq.status.Chronicle;
import ipmasq.status.Meter;
import ipmasq.status.StatusJson;
import ipmasq.status.StatusText;
import ipmasq.status.View;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** {@code status}: how it stands, from the running agent or, without one, from file and kernel. */
final class ShowStatus {
  private static final int CHANGES_NAMED = 10;

  private ShowStatus() {}

  static int run(Console console) {
    Optional<RunningAgent> agent = RunningAgent.find();
    Optional<InetSocketAddress> where =
        console.settings().listen().map(RunningAgent::reachable).or(() -> listen(agent));
    if (where.isPresent()) {
      try {
        return remote(console, where.get());
      } catch (IOException silent) {
        console.err().println(silence(where.get(), silent));
      }
    } else if (agent.isPresent()) {
      console
          .err()
          .println(
              "The agent (process "
                  + agent.get().pid()
                  + ") does not listen, so its history is not known: start it with --listen.");
    } else {
      console.err().println("No agent runs here. What follows is what file and kernel say.");
    }
    return local(console, agent);
  }

  /** Port 0 is the kernel's choice, which a command line does not tell. */
  private static Optional<InetSocketAddress> listen(Optional<RunningAgent> agent) {
    return agent.flatMap(RunningAgent::listen).filter(address -> address.getPort() != 0);
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

  private static int remote(Console console, InetSocketAddress where) throws IOException {
    Fetch.Fetched answer = Fetch.get(where, console.json() ? "/api/status" : "/api/status.txt");
    if (answer.status() != 200) {
      throw new IOException(answer.body().strip());
    }
    console.out().print(answer.body());
    return Fetch.get(where, "/readyz").status() == 200 ? Main.OK : Main.FAILED;
  }

  /** A look as a pass would take it, without writing anything. */
  private static int local(Console console, Optional<RunningAgent> agent) {
    Reading reading = console.read();
    Config config =
        reading instanceof Reading.Read read ? read.config() : console.settings().config();
    Chosen chosen = console.backends().forConfig(config);
    Map<Family, Observation> seen = new EnumMap<>(Family.class);
    Map<Family, Result> results = new EnumMap<>(Family.class);
    for (Family family : Family.values()) {
      if (config.enables(family)) {
        Observation observation = chosen.backend().observe(family);
        seen.put(family, observation);
        results.put(family, result(chosen.backend(), reading, observation, agent.isPresent()));
      }
    }
    Instant now = Instant.now();
    Pass pass =
        new Pass(
            now,
            Duration.ZERO,
            Set.of(Trigger.START),
            footing(reading, config),
            chosen.backend().name(),
            chosen.reasonInFull(),
            false,
            results,
            0,
            List.of());
    Chronicle chronicle = new Chronicle(Listening.identity(Optional.empty()));
    chronicle.accept(pass);
    View view =
        new View(
            chronicle.status().orElseThrow(),
            new Meter.Sample(now, seen, hooks(config, seen)),
            now);
    console.out().print(console.json() ? StatusJson.of(view) + "\n" : StatusText.of(view));
    return view.status().ready() ? Main.OK : Main.FAILED;
  }

  private static Map<Family, Hook> hooks(Config config, Map<Family, Observation> seen) {
    Map<Family, Hook> hooks = new EnumMap<>(Family.class);
    if (Hooks.has(config.backend())) {
      Hooks look = new Hooks();
      seen.forEach(
          (family, observation) ->
              hooks.put(
                  family,
                  look.at(
                      family,
                      config.masqChain(),
                      observation instanceof Observation.Seen(var observed)
                          ? observed.policy()
                          : Optional.empty())));
    }
    return hooks;
  }

  private static Footing footing(Reading reading, Config config) {
    return switch (reading) {
      case Reading.Read(var _, var warnings, var files) ->
          new Footing(config, Basis.FILE, files, warnings);
      case Reading.Rejected(var problems, var files) ->
          new Footing(config, Basis.FALLBACK, files, problems);
    };
  }

  private static Result result(
      Backend backend, Reading reading, Observation observation, boolean agentRuns) {
    return switch (observation) {
      case Observation.Unseen(var failure) -> new Result.Failed(failure);
      case Observation.Seen(Observed observed) -> {
        if (!(reading instanceof Reading.Read(var config, var _, var _))) {
          // A bad file asks for nothing that the rules could be compared with.
          yield observed.policy().isPresent()
              ? new Result.Unchanged()
              : new Result.Failed(new Failure("there are no rules of ours", "mend the file"));
        }
        Policy desired = backend.form(Policy.of(config, observed.family()));
        Plan plan = Plan.toward(desired, observed);
        yield plan.isEmpty()
            ? new Result.Unchanged()
            : new Result.Failed(
                new Failure(
                    "the rules are not what the config asks for: " + named(plan.changes()),
                    agentRuns ? "look at the agent's log" : "start the agent, or run apply"));
      }
    };
  }

  private static String named(List<Change> changes) {
    List<String> few = new ArrayList<>();
    changes.subList(0, Math.min(changes.size(), CHANGES_NAMED)).forEach(c -> few.add(c.toString()));
    int more = changes.size() - few.size();
    return String.join(" ", few) + (more == 0 ? "" : " and " + more + " more");
  }
}
