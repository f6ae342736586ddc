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
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
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
    if (!context.settings().configGiven()) {
      return inKernel(context, family, reading);
    }
    if (reading instanceof Reading.Read read) {
      context.print(read.warnings());
      return new PolicyFound(desired(read.config(), family), Optional.empty(), "", read.config());
    }
    context.accepts(reading);
    return new NothingRead(Main.FAILED);
  }

  private static Optional<Policy> desired(Config config, Family family) {
    return config.enables(family) ? Optional.of(config.policy(family)) : Optional.empty();
  }

  /** A running agent's rules are in its backend; without one, rules may be left in any. */
  private static PolicyLookup inKernel(CommandContext context, Family family, Reading reading) {
    Optional<RunningAgent> agent = RunningAgent.find();
    Config config = config(context, reading, agent.flatMap(RunningAgent::asked));
    List<Backend> places = context.backends().places(config);
    Backend place =
        agent.isPresent()
            ? places.getFirst()
            : CommandContext.holder(places, List.of(family)).orElse(places.getFirst());
    return switch (place.observe(family)) {
      case Observation.Seen(var observed) -> {
        observed.flaws().forEach(flaw -> context.fail(place.name() + ": " + flaw));
        Optional<Policy> policy = observed.policy();
        yield new PolicyFound(
            agent.isPresent() ? policy.or(() -> desired(config, family)) : policy,
            policy,
            policy.isPresent() || agent.isPresent() ? place.name() : "",
            config);
      }
      case Observation.Unseen(var failure) -> nothing(context, family, place, failure);
      case Observation.Unusable(var failure) -> nothing(context, family, place, failure);
    };
  }

  private static NothingRead nothing(
      CommandContext context, Family family, Backend place, Failure failure) {
    if (context.json()) {
      Object fields = SyncReportJson.failure(family, place.name(), failure);
      context.printJson(Map.of("failures", List.of(fields)));
    }
    return new NothingRead(context.fail(failure));
  }

  /** What the file says, with the backend that the running agent tells, if it can be asked. */
  private static Config config(
      CommandContext context, Reading reading, Optional<InetSocketAddress> agent) {
    Config config;
    if (reading instanceof Reading.Read read) {
      config = read.config();
    } else {
      context.err().println("the config file is bad, so chain and backend are those of the flags");
      config = context.settings().config();
    }
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
