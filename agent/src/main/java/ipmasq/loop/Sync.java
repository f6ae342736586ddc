package ipmasq.loop;

import ipmasq.backend.Backend;
import ipmasq.backend.Chosen;
import ipmasq.config.Config;
import ipmasq.config.Problem;
import ipmasq.config.Reading;
import ipmasq.loop.Pass.Basis;
import ipmasq.loop.Pass.Result;
import ipmasq.net.Family;
import ipmasq.plan.Observed;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes passes: file to kernel, once each. Used by one thread.
 *
 * <p>It remembers what must outlive a pass: the last good config, the policies of an earlier run
 * that are kept while the file is bad, and whose leftovers were swept already.
 */
public final class Sync {
  private final Supplier<Reading> file;
  private final Config fallback;
  private final Function<Config, Chosen> backends;
  private final Clock clock;

  private @Nullable Config lastGood;
  private final Map<Family, Policy> kept = new EnumMap<>(Family.class);
  private @Nullable Config swept;

  /**
   * @param file reads the config file
   * @param fallback the config for a node whose file is bad from the start
   * @param backends the backend for a config
   */
  public Sync(
      Supplier<Reading> file, Config fallback, Function<Config, Chosen> backends, Clock clock) {
    this.file = file;
    this.fallback = fallback;
    this.backends = backends;
    this.clock = clock;
  }

  /** One pass. */
  public Pass pass(Set<Trigger> why) {
    Instant start = clock.instant();
    Reading reading = file.get();
    Basis basis = basis(reading);
    Config config = lastGood == null ? fallback : lastGood;
    Chosen chosen = backends.apply(config);
    Map<Family, Result> results = new EnumMap<>(Family.class);
    for (Family family : Family.values()) {
      if (enabled(config, family)) {
        results.put(
            family,
            Enforcement.enforce(
                chosen.backend(),
                family,
                observed ->
                    Plan.toward(desired(chosen.backend(), config, basis, observed), observed)));
      }
    }
    if (results.values().stream().noneMatch(Result.Failed.class::isInstance)) {
      sweep(config, chosen, results);
    }
    return new Pass(
        start,
        Duration.between(start, clock.instant()),
        why,
        config,
        basis,
        problems(reading),
        chosen.backend().name(),
        reason(chosen),
        results);
  }

  /** Asked after the pass: by then the backend has looked at the node. */
  private static String reason(Chosen chosen) {
    String circumstances = chosen.backend().circumstances();
    return circumstances.isEmpty() ? chosen.reason() : chosen.reason() + "; " + circumstances;
  }

  private static boolean enabled(Config config, Family family) {
    return family == Family.IPV4 || config.enableIpv6();
  }

  private Basis basis(Reading reading) {
    return switch (reading) {
      case Reading.Read read -> {
        lastGood = read.config();
        yield Basis.FILE;
      }
      case Reading.Rejected _ -> lastGood == null ? Basis.FALLBACK : Basis.LAST_GOOD;
    };
  }

  private static List<Problem> problems(Reading reading) {
    return switch (reading) {
      case Reading.Read read -> read.warnings();
      case Reading.Rejected rejected -> rejected.problems();
    };
  }

  /** While the file never was good, what an earlier run left stays in force, and is healed. */
  private Policy desired(Backend backend, Config config, Basis basis, Observed observed) {
    Policy policy = backend.form(Policy.of(config, observed.family()));
    return switch (basis) {
      case FILE, LAST_GOOD -> policy;
      case FALLBACK ->
          kept.computeIfAbsent(observed.family(), _ -> observed.policy().orElse(policy));
    };
  }

  /**
   * Once the rules are in force, and only then, removes what a former config left behind: rules of
   * a family that is off now, rules that another backend wrote.
   */
  private void sweep(Config config, Chosen chosen, Map<Family, Result> results) {
    if (config.equals(swept)) {
      return;
    }
    for (Family family : Family.values()) {
      if (!enabled(config, family)) {
        keepIfChanged(results, family, Enforcement.remove(chosen.backend(), family));
      }
      for (Backend other : chosen.others()) {
        Enforcement.remove(other, family);
      }
    }
    swept = config;
  }

  /** A node without IPv6 cannot be swept of IPv6 rules, and need not be: no failure. */
  private static void keepIfChanged(Map<Family, Result> results, Family family, Result result) {
    switch (result) {
      case Result.Changed changed -> results.put(family, changed);
      case Result.Unchanged _, Result.Failed _ -> {}
    }
  }
}
