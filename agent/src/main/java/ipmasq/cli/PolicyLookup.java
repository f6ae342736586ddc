package ipmasq.cli;

import ipmasq.app.Backends;
import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.config.Config;
import ipmasq.config.Reading;
import ipmasq.http.Fetch;
import ipmasq.json.JsonValue;
import ipmasq.json.MalformedJson;
import ipmasq.net.Family;
import ipmasq.policy.Policy;
import ipmasq.sync.SyncReportJson;
import ipmasq.sync.Target;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What {@code explain} goes by: the file that was named, else our rules in the kernel. */
sealed interface PolicyLookup {
  /**
   * @param wanted what packets should meet; empty: this agent has no rules there
   * @param inForce our rules in the kernel
   * @param backend whose rules they are
   * @param config where they were looked for
   */
  record PolicyFound(
      Optional<Policy> wanted, Optional<Policy> inForce, String backend, Config config)
      implements PolicyLookup {
    boolean isCni() {
      return backend.equals("cni");
    }
  }

  record NothingRead(int code) implements PolicyLookup {}

  static PolicyLookup of(CommandContext context, Family family) {
    Reading reading = context.read();
    return context.settings().configGiven()
        ? inFile(context, family, reading)
        : inKernel(context, family, reading);
  }

  private static PolicyLookup inFile(CommandContext context, Family family, Reading reading) {
    return switch (reading) {
      case Reading.Read read -> {
        context.print(read.warnings());
        yield new PolicyFound(desired(read.config(), family), Optional.empty(), "", read.config());
      }
      case Reading.Rejected rejected -> {
        context.accepts(rejected);
        yield new NothingRead(Main.FAILED);
      }
    };
  }

  private static Optional<Policy> desired(Config config, Family family) {
    return config.enables(family) ? Optional.of(config.policy(family)) : Optional.empty();
  }

  /**
   * The backend of the running agent answers, or the config's own; without an agent, rules may be
   * left in any.
   */
  private static PolicyLookup inKernel(CommandContext context, Family family, Reading reading) {
    Optional<RunningAgent> agent = RunningAgent.find();
    Config config = config(context, reading, agent.flatMap(RunningAgent::asked));
    Target target = context.backends().target(context.backends().look(), config);
    List<Backend> places = new ArrayList<>(List.of(target.backend()));
    places.addAll(target.others());
    List<Object> unseen = new ArrayList<>();
    Optional<Failure> last = Optional.empty();
    boolean looked = false;
    for (Backend backend : places) {
      switch (backend.observe(family)) {
        case Observation.Unseen(Failure failure) -> {
          unseen.add(SyncReportJson.failure(family, backend.name(), failure));
          last = Optional.of(failure);
        }
        case Observation.Unusable(Failure failure) -> {
          unseen.add(SyncReportJson.failure(family, backend.name(), failure));
          last = Optional.of(failure);
        }
        case Observation.Seen(var observed) -> {
          observed
              .flaws()
              .forEach(
                  flaw -> context.err().println("ip-masq-agent: " + backend.name() + ": " + flaw));
          if (observed.policy().isPresent()) {
            return new PolicyFound(observed.policy(), observed.policy(), backend.name(), config);
          }
          if (agent.isPresent() && !looked && last.isEmpty()) {
            return new PolicyFound(
                desired(config, family), Optional.empty(), backend.name(), config);
          }
          looked = true;
        }
      }
    }
    if (looked || last.isEmpty()) {
      return new PolicyFound(Optional.empty(), Optional.empty(), "", config);
    }
    if (context.json()) {
      context.printJson(Map.of("failures", unseen));
    }
    return new NothingRead(context.fail(last.get()));
  }

  /** What the file says, with the backend that the running agent tells, if it can be asked. */
  private static Config config(
      CommandContext context, Reading reading, Optional<InetSocketAddress> agent) {
    Config config =
        switch (reading) {
          case Reading.Read read -> read.config();
          case Reading.Rejected _ -> {
            context
                .err()
                .println("the config file is bad, so chain and backend are those of the flags");
            yield context.settings().config();
          }
        };
    return agent
        .flatMap(PolicyLookup::backend)
        .map(name -> Backends.fixed(config, name))
        .orElse(config);
  }

  private static Optional<String> backend(InetSocketAddress agent) {
    try {
      byte[] status = Fetch.get(agent, "/api/status").body().getBytes(StandardCharsets.UTF_8);
      return JsonValue.read(status) instanceof JsonValue.Obj object
              && object.value("backend").orElse(null) instanceof JsonValue.Str(_, _, var name)
          ? Optional.of(name)
          : Optional.empty();
    } catch (IOException | MalformedJson silent) {
      return Optional.empty();
    }
  }
}
