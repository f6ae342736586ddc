package ipmasq.loop;

import ipmasq.backend.Backend;
import ipmasq.backend.Chosen;
import ipmasq.backend.Failure;
import ipmasq.backend.Watch;
import ipmasq.config.Config;
import ipmasq.config.Reading;
import ipmasq.config.TooLarge;
import ipmasq.loop.Pass.Result;
import ipmasq.net.Family;
import ipmasq.plan.Observed;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes passes: file to kernel, once each. Used by one thread.
 *
 * <p>It remembers what must outlive a pass: the config that it stands on, the policies of an
 * earlier run that are kept while the file is bad, and what was last seen to be in force.
 */
public final class Sync {
  private final Supplier<Reading> file;
  private final Function<Config, Chosen> backends;
  private final Host host;
  private final Clock clock;

  private Footing footing;
  private final Oversized oversized = new Oversized();
  private final Leftovers leftovers = new Leftovers();
  private final Map<Family, Policy> kept = new EnumMap<>(Family.class);
  private final Map<Family, Policy> inForce = new EnumMap<>(Family.class);
  private Watch watch = Watch.NONE;
  private Optional<Object> verified = Optional.empty();
  private @Nullable Reading lastReading;
  private @Nullable Pass calm;

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
    this.backends = backends;
    this.host = host;
    this.clock = clock;
    this.footing = Footing.fallback(fallback);
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
    Occasion occasion = new Occasion(why, fighting, System.nanoTime());
    Reading reading = oversized.sift(file.get());
    Pass before = calm;
    if (before != null && reading == lastReading && watch.mark().equals(verified)) {
      return again(before, occasion);
    }
    lastReading = reading;
    calm = null;
    try {
      return pass(occasion, footing.after(reading), true);
    } catch (OutOfMemoryError full) {
      // What was in force before had room, so a new config is to blame.
      if (reading instanceof Reading.Read read && !footing.after(read).asksTheSameAs(footing)) {
        oversized.add(read);
      }
    }
    reading = oversized.sift(reading);
    try {
      return pass(occasion, footing.after(reading), true);
    } catch (OutOfMemoryError full) {
      return pass(occasion, footing.after(reading), false);
    }
  }

  /**
   * What an idle agent's resync comes to: the same file, and rules that nobody touched. There is
   * nothing to work out anew, and the less of it, the better: it is cold each time.
   */
  private Pass again(Pass before, Occasion occasion) {
    Instant at = clock.instant();
    return before.again(at, occasion.took(), occasion.why(), occasion.fighting());
  }

  /**
   * Why and when a pass is made.
   *
   * @param start by a clock of nanoseconds, because the other one may be set meanwhile
   */
  private record Occasion(Set<Trigger> why, boolean fighting, long start) {
    Duration took() {
      return Duration.ofNanos(System.nanoTime() - start);
    }
  }

  /**
   * @param room whether there is memory for the rules; without it they are not looked at, and what
   *     is in the kernel is whole all the same
   */
  private Pass pass(Occasion occasion, Footing next, boolean room) {
    Instant at = clock.instant();
    boolean starts = occasion.why().contains(Trigger.START);
    boolean sameAim = next.asksTheSameAs(footing);
    Config config = next.config();
    Chosen chosen = backends.apply(config);
    watch = chosen.watch();
    // The mark is older than the look: what happens in between shows as a change later. At the
    // start there is nothing to compare with, and the rules come first.
    Optional<Object> mark = starts ? Optional.empty() : watch.mark();
    boolean untouched = mark.isPresent() && mark.equals(verified) && sameAim;
    Map<Family, Result> results = new EnumMap<>(Family.class);
    Follow follow = new Follow(host, config);
    for (Family family : Family.values()) {
      if (config.enables(family)) {
        Result result;
        if (!room) {
          result = outOfMemory();
        } else if (untouched) {
          result = new Result.Unchanged();
        } else {
          result = enforce(chosen.backend(), next, family, follow);
        }
        results.put(family, result);
      }
    }
    Duration took = occasion.took();
    if (none(Result.Failed.class, results)) {
      leftovers.sweep(config, chosen, results);
    }
    // Never believe the last write: what was changed is looked at once more.
    boolean unchanged = none(Result.Failed.class, results) && none(Result.Changed.class, results);
    verified = unchanged ? mark : Optional.empty();
    footing = next;
    Pass pass =
        new Pass(
            at,
            took,
            starts || sameAim ? occasion.why() : foundChanged(occasion.why()),
            next,
            chosen.backend().name(),
            chosen.reasonInFull(),
            occasion.fighting(),
            results,
            follow.flows(),
            follow.warnings());
    // The node's addresses come and go without a mark.
    boolean settled = leftovers.swept() && config.outputAddresses().isEmpty();
    calm = settled && verified.isPresent() ? pass : null;
    return pass;
  }

  /** A pass may come upon a new file before the watch of it does: then that is its reason. */
  private static Set<Trigger> foundChanged(Set<Trigger> woken) {
    EnumSet<Trigger> why = EnumSet.copyOf(woken);
    why.remove(Trigger.RULES);
    why.add(Trigger.CONFIG);
    return why;
  }

  private static Result outOfMemory() {
    return new Result.Failed(
        new Failure("out of memory: the agent has " + TooLarge.memory(), TooLarge.advice()));
  }

  private static boolean none(Class<? extends Result> kind, Map<Family, Result> results) {
    for (Result result : results.values()) {
      if (kind.isInstance(result)) {
        return false;
      }
    }
    return true;
  }

  private Result enforce(Backend backend, Footing next, Family family, Follow follow) {
    Plan[] last = new Plan[1];
    Result result =
        Enforcement.enforce(
            backend,
            family,
            observed -> {
              last[0] = Plan.toward(desired(backend, next, observed), observed);
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

  /** While the file never was good, what an earlier run left stays in force, and is healed. */
  private Policy desired(Backend backend, Footing next, Observed observed) {
    Policy policy = backend.form(Policy.of(next.config(), observed.family()));
    return switch (next.basis()) {
      case FILE, LAST_GOOD -> policy;
      case FALLBACK ->
          kept.computeIfAbsent(observed.family(), _ -> observed.policy().orElse(policy));
    };
  }

  /** Whether there is anything cheap to look at between passes. */
  boolean watches() {
    return watch != Watch.NONE;
  }

  /** Whether somebody may have changed the rules since they were last seen to be in place. */
  boolean disturbed() {
    Optional<Object> mark = watch.mark();
    return mark.isPresent() && !mark.equals(verified);
  }
}
