package ipmasq.cli;

import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.config.Config;
import ipmasq.config.Reading;
import ipmasq.net.Family;
import ipmasq.policy.Policy;
import ipmasq.sync.SyncReportJson;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What {@code explain} goes by: the file that was named, else our rules in the kernel.
 *
 * @param wanted what packets should meet; empty: this agent has no rules there
 * @param inForce our rules in the kernel
 * @param backend whose rules they are
 * @param config where they were looked for
 */
record PolicyLookup(
    Optional<Policy> wanted, Optional<Policy> inForce, String backend, Config config) {
  /** Empty if the file is bad or nothing can be read, which it says. */
  static Optional<PolicyLookup> of(CommandContext context, Family family) {
    Reading reading = context.read();
    Config config = context.config(reading);
    Optional<Policy> asked =
        config.enables(family) ? Optional.of(config.policy(family)) : Optional.empty();
    if (context.configGiven()) {
      return context.accepts(reading)
          ? Optional.of(new PolicyLookup(asked, Optional.empty(), "", config))
          : Optional.empty();
    }
    if (reading instanceof Reading.Rejected) {
      context.err().println("the config file is bad, so chain and backend are those of the flags");
    }
    Backend place = context.backends().places(context.located(config)).getFirst();
    Failure failure;
    switch (place.observe(family)) {
      case Observation.Seen(var observed) -> {
        observed.flaws().forEach(flaw -> context.fail(place.name() + ": " + flaw));
        Optional<Policy> ours = observed.policy();
        Optional<Policy> wanted = context.agent().isPresent() ? ours.or(() -> asked) : ours;
        boolean none = ours.isEmpty() && context.agent().isEmpty();
        return Optional.of(new PolicyLookup(wanted, ours, none ? "" : place.name(), config));
      }
      case Observation.Unseen(var why) -> failure = why;
      case Observation.Unusable(var why) -> failure = why;
    }
    if (context.json()) {
      Object fields = SyncReportJson.failure(family, place.name(), failure);
      context.printJson(Map.of("failures", List.of(fields)));
    }
    context.fail(failure);
    return Optional.empty();
  }

  boolean isCni() {
    return backend.equals("cni");
  }
}
