package ipmasq.loop;

import ipmasq.backend.Failure;
import ipmasq.backend.Watch;
import ipmasq.config.Config;
import ipmasq.config.Reading;
import ipmasq.config.TooLarge;
import ipmasq.loop.Enforcement.Enforced;
import ipmasq.loop.Enforcement.Goal;
import ipmasq.loop.Pass.Basis;
import ipmasq.loop.Pass.Result;
import ipmasq.net.Family;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Runs passes, each from the config file to the kernel. Used by one thread.
 *
 * <p>Between passes it keeps the config in force, the policies of an earlier run that stay while
 * the file is bad, and the fingerprint of the rules when they were last verified.
 */
public final class Sync {
  private final Function<Node, Reading> readConfig;
  private final Targets targets;
  private final Host host;
  private final Clock clock;
  private final Enforcement enforcement;

  private EffectiveConfig inEffect;
  private @Nullable Reading reading;
  private List<Reading.SourceFile> tooLarge = List.of();
  private final Map<Family, Policy> kept = new EnumMap<>(Family.class);
  private final Map<Family, Policy> inForce = new EnumMap<>(Family.class);
  private @Nullable Target target;
  private Optional<Object> verified = Optional.empty();
  private Optional<Object> seen = Optional.empty();
  private boolean failedBefore;

  /**
   * @param readConfig reads the file; the node decides what {@code backend: auto} means, and so
   *     which keys and limits are valid
   * @param fallback the config for a node whose file is bad from the start
   * @param writes whether passes write rules, or only plan them
   */
  public Sync(
      Function<Node, Reading> readConfig,
      Config fallback,
      Targets targets,
      Host host,
      Clock clock,
      boolean writes) {
    this.readConfig = readConfig;
    this.targets = targets;
    this.host = host;
    this.clock = clock;
    this.enforcement = new Enforcement(writes);
    this.inEffect = EffectiveConfig.fallback(fallback);
  }

  /** Why and when a pass is made. Nanoseconds, because the wall clock may be set meanwhile. */
  private record Occasion(Set<Trigger> why, boolean fighting, long start) {
    Duration took() {
      return Duration.ofNanos(System.nanoTime() - start);
    }
  }

  /**
   * Runs one pass, and handles one that runs out of memory.
   *
   * @param fighting whether another program keeps undoing what passes repair
   */
  public Pass pass(Set<Trigger> why, boolean fighting) {
    Occasion occasion = new Occasion(why, fighting, System.nanoTime());
    try {
      return attempt(occasion);
    } catch (OutOfMemoryError full) {
      // The previous config fitted, so the new one is to blame: treat it as a bad file from now on.
      if (reading instanceof Reading.Read && !inEffect.after(reading).asksTheSameAs(inEffect)) {
        tooLarge = reading.sources();
      }
    }
    try {
      return attempt(occasion);
    } catch (OutOfMemoryError full) {
      return outOfMemory(occasion);
    }
  }

  /** The line: node, config, target, rules, sweep. */
  private Pass attempt(Occasion occasion) {
    Node node = targets.look();
    reading = fitting(readConfig.apply(node));
    EffectiveConfig config = inEffect.after(reading);
    Target to = targets.target(node, config.config());
    Optional<Object> fingerprint = to.watch().freshFingerprint();
    boolean untouched =
        enforcement.writes()
            && isVerified(fingerprint)
            && config.asksTheSameAs(inEffect)
            && to.equals(target);
    Map<Family, Enforced> rules = untouched ? unchanged(config) : enforce(config, to);
    if (rules.get(Family.IPV4) instanceof Enforced(Result.Failed(var why, _), _)
        && targets.ruledOut(to, why)) {
      return attempt(occasion); // iptables cannot work here: choose again
    }
    Sweep sweep = failed(rules) ? Sweep.NONE : Sweep.of(enforcement, config.config(), to);
    Pass pass = toPass(occasion, config, to, rules, sweep);
    inEffect = config;
    target = to;
    // Never trust the last write: changed rules are read again.
    verified = pass.settled() ? fingerprint : Optional.empty();
    seen = fingerprint;
    failedBefore = pass.failed();
    return pass;
  }

  /** A config that ran out of memory counts as a bad file until it changes. */
  private Reading fitting(Reading read) {
    boolean known = !tooLarge.isEmpty() && tooLarge.equals(read.sources());
    return known ? TooLarge.of(tooLarge) : read;
  }

  private boolean isVerified(Optional<Object> fingerprint) {
    return fingerprint.isPresent() && fingerprint.equals(verified);
  }

  private static Map<Family, Enforced> unchanged(EffectiveConfig config) {
    Map<Family, Enforced> results = new EnumMap<>(Family.class);
    for (Family family : config.families()) {
      results.put(family, new Enforced(new Result.Unchanged(), Optional.empty()));
    }
    return results;
  }

  private Map<Family, Enforced> enforce(EffectiveConfig config, Target to) {
    Map<Family, Enforced> results = new EnumMap<>(Family.class);
    for (Family family : config.families()) {
      Enforced enforced = enforcement.enforce(to.backend(), family, goal(config, family));
      results.put(family, enforced);
      if (config.basis() == Basis.FALLBACK) {
        enforced.plan().flatMap(Plan::desired).ifPresent(policy -> kept.put(family, policy));
      }
    }
    return results;
  }

  /**
   * Until the file has been good once, the rules of an earlier run stay in force and are repaired.
   */
  private Goal goal(EffectiveConfig config, Family family) {
    Policy policy = config.config().policy(family);
    return switch (config.basis()) {
      case FILE, LAST_GOOD -> new Goal.Enforce(policy);
      case FALLBACK ->
          kept.containsKey(family) ? new Goal.Enforce(kept.get(family)) : new Goal.KeepOr(policy);
    };
  }

  private static boolean failed(Map<Family, Enforced> rules) {
    return rules.values().stream().anyMatch(it -> it.result() instanceof Result.Failed);
  }

  private Pass toPass(
      Occasion occasion,
      EffectiveConfig config,
      Target to,
      Map<Family, Enforced> rules,
      Sweep sweep) {
    Duration took = occasion.took();
    FlowUpdate update = follow(config, rules);
    Map<Family, Result> results = new EnumMap<>(Family.class);
    rules.forEach((family, enforced) -> results.put(family, enforced.result()));
    return new Pass(
        clock.instant(),
        took,
        reasons(occasion.why(), config, to, results),
        config.keeping(kept),
        to.backend().name(),
        to.reasonInFull(),
        occasion.fighting(),
        results,
        sweep,
        update.flows(),
        warnings(config, rules, sweep, update));
  }

  /** Established flows follow a new policy, if the config asks for it. */
  private FlowUpdate follow(EffectiveConfig config, Map<Family, Enforced> rules) {
    FlowUpdate update = new FlowUpdate(host, config.config().conntrack());
    rules.forEach(
        (family, enforced) -> {
          Optional<Policy> now = enforced.plan().flatMap(Plan::desired);
          if (now.isPresent() && !(enforced.result() instanceof Result.Failed)) {
            // The policy observed in the kernel, or else the last one known to be in force.
            Optional<Policy> before =
                enforced
                    .plan()
                    .flatMap(plan -> plan.observed().policy())
                    .or(() -> Optional.ofNullable(inForce.get(family)));
            if (enforced.result() instanceof Result.Changed && before.isPresent()) {
              update.revision(family, before.get(), now.get());
            }
            inForce.put(family, now.get());
          }
        });
    return update;
  }

  /** Problems of the node that do not keep the rules from being in force. */
  private List<String> warnings(
      EffectiveConfig config, Map<Family, Enforced> rules, Sweep sweep, FlowUpdate update) {
    List<String> warnings = new ArrayList<>();
    rules.values().forEach(enforced -> warnings.addAll(enforced.remarks()));
    warnings.addAll(sweep.unread());
    warnings.addAll(update.warnings());
    if (!config.config().outputAddresses().isEmpty()) {
      warnings.addAll(OutputAddresses.warnings(config.config(), host.addresses().get()));
    }
    return warnings;
  }

  /**
   * Why the rules changed, which is not always what woke the loop: a pass may see a new file before
   * the file watch does, or find a flushed chain when it was woken to read the file.
   */
  private Set<Trigger> reasons(
      Set<Trigger> woken, EffectiveConfig config, Target to, Map<Family, Result> results) {
    if (woken.contains(Trigger.START) || !to.equals(target)) {
      return woken;
    }
    EnumSet<Trigger> why = EnumSet.copyOf(woken);
    if (!config.asksTheSameAs(inEffect)) {
      why.remove(Trigger.RULES);
      why.add(Trigger.CONFIG);
    } else if (results.values().stream().anyMatch(Result.Changed.class::isInstance)) {
      why.remove(Trigger.CONFIG);
      if (failedBefore) {
        why.add(Trigger.RETRY);
      } else if (why.isEmpty()) {
        why.add(Trigger.RULES);
      }
    }
    return why;
  }

  /** The rules are not read; those in the kernel are still intact. */
  private Pass outOfMemory(Occasion occasion) {
    Failure failure =
        new Failure("out of memory: the agent has " + TooLarge.memory(), TooLarge.advice());
    Map<Family, Result> results = new EnumMap<>(Family.class);
    for (Family family : inEffect.families()) {
      results.put(family, new Result.Failed(failure, true));
    }
    verified = Optional.empty();
    failedBefore = true;
    Target last = target;
    return new Pass(
        clock.instant(),
        occasion.took(),
        occasion.why(),
        inEffect,
        last == null ? "none" : last.backend().name(),
        last == null ? "" : last.reason(),
        occasion.fighting(),
        results,
        Sweep.NONE,
        0,
        List.of());
  }

  /** Whether the target has a cheap watch to use between passes. */
  boolean watches() {
    Target last = target;
    return last != null && last.watch() != Watch.NONE;
  }

  /** Whether the rules may have changed since they were last verified. */
  boolean disturbed() {
    return differsFrom(verified);
  }

  /** Whether the rules have changed since the last pass read them, whatever its result. */
  boolean moved() {
    return differsFrom(seen);
  }

  private boolean differsFrom(Optional<Object> before) {
    Target last = target;
    Optional<Object> fingerprint = last == null ? Optional.empty() : last.watch().fingerprint();
    return fingerprint.isPresent() && !fingerprint.equals(before);
  }
}
