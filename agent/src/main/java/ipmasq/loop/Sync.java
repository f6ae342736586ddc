package ipmasq.loop;

import ipmasq.backend.Backend;
import ipmasq.backend.Chosen;
import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.backend.Watch;
import ipmasq.config.Config;
import ipmasq.config.Problem;
import ipmasq.config.Reading;
import ipmasq.config.TooLarge;
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
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes passes: file to kernel, once each. Used by one thread.
 *
 * <p>It remembers what must outlive a pass: the last good config, the policies of an earlier run
 * that are kept while the file is bad, and whose leftovers were swept already.
 *
 * <p>A config that the memory cannot hold is a bad file: the one before it stays in force.
 */
public final class Sync {
  /** What cannot be looked at right now may be a little later; what never can is let be. */
  private static final int SWEEPS = 5;

  /** For whom the leftovers of others were last looked for. */
  private record Sweep(Config config, Backend backend) {}

  private final Supplier<Reading> file;
  private final Config fallback;
  private final Function<Config, Chosen> backends;
  private final Host host;
  private final Clock clock;

  private @Nullable Config lastGood;
  private List<Reading.Source> sources = List.of();
  private List<Reading.Source> tooLarge = List.of();
  private final Map<Family, Policy> kept = new EnumMap<>(Family.class);
  private @Nullable Sweep swept;
  private int sweeps;
  private @Nullable Config enforced;
  private final Map<Family, Policy> inForce = new EnumMap<>(Family.class);
  private Watch watch = Watch.NONE;
  private Optional<Object> verified = Optional.empty();

  /**
   * @param file reads the config file
   * @param fallback the config for a node whose file is bad from the start
   * @param backends the backend for a config
   */
  public Sync(
      Supplier<Reading> file,
      Config fallback,
      Function<Config, Chosen> backends,
      Host host,
      Clock clock) {
    this.file = file;
    this.fallback = fallback;
    this.backends = backends;
    this.host = host;
    this.clock = clock;
  }

  /** One pass on its own. */
  public Pass pass(Set<Trigger> why) {
    return pass(why, false);
  }

  /**
   * One pass.
   *
   * @param fighting whether another program keeps undoing what passes mend
   */
  public Pass pass(Set<Trigger> why, boolean fighting) {
    long start = System.nanoTime(); // the clock may be set meanwhile
    Config goodBefore = lastGood;
    List<Reading.Source> sourcesBefore = sources;
    Reading reading = unlessTooLarge(file.get());
    try {
      return pass(why, fighting, reading, start);
    } catch (OutOfMemoryError full) {
      lastGood = goodBefore;
      sources = sourcesBefore;
    }
    // What was in force before had room, so a new config is to blame. To try it again at the next
    // pass would only fail the same way.
    if (reading instanceof Reading.Read read && !read.config().equals(goodBefore)) {
      tooLarge = reading.sources();
    }
    reading = unlessTooLarge(reading);
    try {
      return pass(why, fighting, reading, start);
    } catch (OutOfMemoryError full) {
      return failed(why, fighting, reading);
    }
  }

  private Reading unlessTooLarge(Reading reading) {
    boolean known = !tooLarge.isEmpty() && tooLarge.equals(reading.sources());
    return known ? TooLarge.of(tooLarge) : reading;
  }

  /** A pass that there was no memory for. What is in the kernel is whole all the same. */
  private Pass failed(Set<Trigger> why, boolean fighting, Reading reading) {
    Basis basis = basis(reading);
    Config config = lastGood == null ? fallback : lastGood;
    Failure failure =
        new Failure("out of memory: the agent has " + TooLarge.memory(), TooLarge.advice());
    Map<Family, Result> results = new EnumMap<>(Family.class);
    for (Family family : Family.values()) {
      if (enabled(config, family)) {
        results.put(family, new Result.Failed(failure));
      }
    }
    verified = Optional.empty();
    Chosen chosen = backends.apply(config);
    return new Pass(
        clock.instant(),
        Duration.ZERO,
        why,
        config,
        basis,
        sources,
        problems(reading),
        chosen.backend().name(),
        reason(chosen),
        fighting,
        results);
  }

  private Pass pass(Set<Trigger> why, boolean fighting, Reading reading, long start) {
    Instant at = clock.instant();
    Basis basis = basis(reading);
    Config config = lastGood == null ? fallback : lastGood;
    Chosen chosen = backends.apply(config);
    watch = chosen.watch();
    // The mark is older than the look: what happens in between shows as a change later. At the
    // start there is nothing to compare with, and the rules come first.
    Optional<Object> mark = why.contains(Trigger.START) ? Optional.empty() : watch.mark();
    boolean untouched = mark.isPresent() && mark.equals(verified) && config.equals(enforced);
    Map<Family, Result> results = new EnumMap<>(Family.class);
    Follow follow = new Follow(host, config);
    for (Family family : Family.values()) {
      if (enabled(config, family)) {
        results.put(
            family,
            untouched
                ? new Result.Unchanged()
                : enforce(chosen.backend(), config, basis, family, follow));
      }
    }
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    if (results.values().stream().noneMatch(Result.Failed.class::isInstance)) {
      sweep(config, chosen, results);
    }
    // Never believe the last write: what was changed is looked at once more.
    boolean unchanged = results.values().stream().allMatch(Result.Unchanged.class::isInstance);
    verified = unchanged ? mark : Optional.empty();
    enforced = config;
    return new Pass(
        at,
        took,
        why,
        config,
        basis,
        sources,
        problems(reading),
        chosen.backend().name(),
        reason(chosen),
        fighting,
        results,
        follow.flows(),
        follow.warnings());
  }

  private Result enforce(
      Backend backend, Config config, Basis basis, Family family, Follow follow) {
    Plan[] last = new Plan[1];
    Result result =
        Enforcement.enforce(
            backend,
            family,
            observed -> {
              last[0] = Plan.toward(desired(backend, config, basis, observed), observed);
              return last[0];
            });
    if (!(result instanceof Result.Failed)) {
      Policy now = last[0].desired().orElseThrow();
      // What the kernel was seen to hold, or else what we know to have been in force.
      Optional<Policy> before =
          last[0].observed().policy().or(() -> Optional.ofNullable(inForce.get(family)));
      if (result instanceof Result.Changed && before.isPresent()) {
        follow.revision(family, before.get(), now);
      }
      inForce.put(family, now);
    }
    return result;
  }

  /** Whether somebody may have changed the rules since they were last seen to be in place. */
  boolean disturbed() {
    Optional<Object> mark = watch.mark();
    return mark.isPresent() && !mark.equals(verified);
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
        sources = read.sources();
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
    Sweep sweep = new Sweep(config, chosen.backend());
    if (!sweep.equals(swept)) {
      swept = sweep;
      sweeps = SWEEPS;
    }
    if (sweeps == 0) {
      return;
    }
    sweeps--;
    boolean clean = true;
    for (Family family : Family.values()) {
      if (!enabled(config, family)) {
        keepIfChanged(results, family, Enforcement.remove(chosen.backend(), family));
      }
      for (Backend other : chosen.others()) {
        clean &= removed(other, family, results);
      }
    }
    sweeps = clean ? 0 : sweeps;
  }

  /** Whether nothing of another backend's is left. */
  private static boolean removed(Backend other, Family family, Map<Family, Result> results) {
    return switch (other.observe(family)) {
      // Mostly because there is no such program, and then there are no rules of it either.
      case Observation.Unseen _ -> false;
      case Observation.Seen(var observed) when observed.absent() -> true;
      case Observation.Seen _ -> {
        Result result = Enforcement.remove(other, family);
        if (result instanceof Result.Failed) {
          results.put(family, result); // else both would translate, each in its own way
        }
        yield !(result instanceof Result.Failed);
      }
    };
  }

  /** A node without IPv6 cannot be swept of IPv6 rules, and need not be: no failure. */
  private static void keepIfChanged(Map<Family, Result> results, Family family, Result result) {
    switch (result) {
      case Result.Changed changed -> results.put(family, changed);
      case Result.Unchanged _, Result.Failed _ -> {}
    }
  }
}
