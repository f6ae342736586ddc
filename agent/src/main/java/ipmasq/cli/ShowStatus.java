package ipmasq.cli;

import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.config.Config;
import ipmasq.config.Reading;
import ipmasq.http.Fetch;
import ipmasq.loop.Pass;
import ipmasq.loop.Pass.Result;
import ipmasq.loop.Trigger;
import ipmasq.net.Family;
import ipmasq.plan.Change;
import ipmasq.policy.Policy;
import ipmasq.status.Chronicle;
import ipmasq.status.HookSample;
import ipmasq.status.Meter;
import ipmasq.status.StatusJson;
import ipmasq.status.StatusText;
import ipmasq.status.View;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** {@code status}: how it stands, from the running agent or, without one, from file and kernel. */
final class ShowStatus {
  /** The bit of CAP_NET_ADMIN among a process's capabilities. */
  private static final long NET_ADMIN = 1 << 12;

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
    }
    return mayLook() ? local(console, agent) : cannotTell(console);
  }

  /** Whether this process may read rules at all. */
  private static boolean mayLook() {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
        if (line.startsWith("CapEff:")) {
          return (Long.parseUnsignedLong(line.substring(7).strip(), 16) & NET_ADMIN) != 0;
        }
      }
    } catch (IOException noProc) {
      // Then the kernel will say.
    }
    return true;
  }

  private static int cannotTell(Console console) {
    String sentence = "Cannot tell how this node stands: run as root.";
    if (console.json()) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("ok", false);
      fields.put("summary", sentence);
      console.printJson(fields);
    } else {
      console.out().println(sentence);
    }
    return Main.FAILED;
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
    String json = console.json() ? answer.body() : Fetch.get(where, "/api/status").body();
    return json.startsWith("{\"ok\":true") ? Main.OK : Main.FAILED;
  }

  /** A look as a pass would take it, without writing anything. */
  private static int local(Console console, Optional<RunningAgent> agent) {
    Reading reading = console.read();
    Pass looked = console.sync(reading, false).pass(Set.of(Trigger.START), false);
    Pass pass = looked.with(results(looked, agent.isPresent()));
    Config config = pass.config();
    Backend backend = console.backends().target(console.backends().look(), config).backend();
    Map<Family, Observation> seen = new EnumMap<>(Family.class);
    pass.results().keySet().forEach(family -> seen.put(family, backend.observe(family)));
    Instant now = pass.at();
    Chronicle chronicle = new Chronicle(Listening.identity(Optional.empty()));
    chronicle.accept(pass);
    View view =
        new View(
            chronicle.status().orElseThrow(),
            new Meter.Sample(now, seen, hooks(config, backend.name(), seen)),
            now,
            agent.isPresent());
    console.out().print(console.json() ? StatusJson.of(view) + "\n" : StatusText.of(view));
    return view.state().ok() ? Main.OK : Main.FAILED;
  }

  private static Map<Family, HookSample> hooks(
      Config config, String backend, Map<Family, Observation> seen) {
    Map<Family, HookSample> hooks = new EnumMap<>(Family.class);
    if (Hooks.has(config.backend())) {
      Hooks look = new Hooks();
      seen.forEach(
          (family, observation) -> {
            Optional<Policy> ours =
                observation instanceof Observation.Seen(var observed)
                    ? observed.policy()
                    : Optional.empty();
            hooks.put(
                family,
                HookSample.of(
                    look.at(family, backend, config.masqChain(), ours), config.policy(family)));
          });
    }
    return hooks;
  }

  /** What would have to be written is missing: nothing was. */
  private static Map<Family, Result> results(Pass looked, boolean agentRuns) {
    Map<Family, Result> results = new EnumMap<>(looked.results());
    results.replaceAll(
        (_, result) ->
            result instanceof Result.Pending(var changes)
                ? new Result.Failed(
                    new Failure(
                        "the rules are not what the config asks for: " + Change.few(changes),
                        agentRuns ? "look at the agent's log" : "start the agent, or run apply"))
                : result);
    return results;
  }
}
