package ipmasq.sync;

import ipmasq.backend.Backend;
import ipmasq.backend.Flows.Forgotten;
import ipmasq.backend.Watch;
import ipmasq.config.Config;
import ipmasq.config.Config.Conntrack;
import ipmasq.config.Key;
import ipmasq.config.Reading;
import ipmasq.net.Family;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import ipmasq.policy.Revision;
import ipmasq.sync.Enforcement.Enforced;
import ipmasq.sync.Enforcement.Planner;
import ipmasq.sync.SyncReport.Basis;
import ipmasq.sync.SyncReport.Result;
import ipmasq.sync.Targets.Target;
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
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Runs syncs, each from the config file to the kernel. Used by one thread.
 *
 * <p>Between syncs it keeps the config in force, the policies of an earlier run that stay while the
 * file is bad, and the fingerprint of the rules when they were last verified.
 */
public final class Sync {
  private final Function<Node, Reading> readConfig;
  private final Targets targets;
  private final Host host;
  private final Clock clock;
  private final Enforcement enforcement;
  private final UnaryOperator<EffectiveConfig> lastGood;

  private EffectiveConfig inEffect;
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
   * @param writes whether syncs write rules, or only plan them
   * @param lastGood may put an earlier config in force instead
   */
  public Sync(
      Function<Node, Reading> readConfig,
      Config fallback,
      Targets targets,
      Host host,
      Clock clock,
      boolean writes,
      UnaryOperator<EffectiveConfig> lastGood) {
    this.readConfig = readConfig;
    this.lastGood = lastGood;
    this.targets = targets;
    this.host = host;
    this.clock = clock;
    this.enforcement = new Enforcement(writes);
    this.inEffect = EffectiveConfig.fallback(fallback);
  }

  /** Why and when a sync is made. Nanoseconds, because the wall clock may be set meanwhile. */
  private record Occasion(Set<Trigger> why, boolean fighting, long start) {
    Duration took() {
      return Duration.ofNanos(System.nanoTime() - start);
    }
  }

  /**
   * Runs one sync.
   *
   * @param fighting whether another program keeps undoing what syncs repair
   */
  public SyncReport run(Set<Trigger> why, boolean fighting) {
    return attempt(new Occasion(why, fighting, System.nanoTime()));
  }

  /** From the file to the kernel: node, config, target, rules, sweep. */
  private SyncReport attempt(Occasion occasion) {
    Node node = targets.look();
    EffectiveConfig config = lastGood.apply(inEffect.after(readConfig.apply(node)));
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
    SyncReport report = report(occasion, config, to, rules, sweep);
    inEffect = config;
    target = to;
    // Never trust the last write: changed rules are read again.
    verified = report.settled() ? fingerprint : Optional.empty();
    seen = fingerprint;
    failedBefore = report.failed();
    return report;
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
      Enforced enforced =
          enforcement.enforce(to.backend(), family, planner(config, to.backend(), family));
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
  private Planner planner(EffectiveConfig config, Backend backend, Family family) {
    Policy policy = config.config().policy(family);
    return switch (config.basis()) {
      case FILE, LAST_GOOD, ROLLED_BACK -> Enforcement.toward(backend, policy);
      case FALLBACK ->
          kept.containsKey(family)
              ? Enforcement.toward(backend, kept.get(family))
              : Enforcement.keepOr(backend, policy);
    };
  }

  private static boolean failed(Map<Family, Enforced> rules) {
    return rules.values().stream().anyMatch(it -> it.result() instanceof Result.Failed);
  }

  private SyncReport report(
      Occasion occasion,
      EffectiveConfig config,
      Target to,
      Map<Family, Enforced> rules,
      Sweep sweep) {
    Duration took = occasion.took();
    List<String> warnings = new ArrayList<>();
    int flows = follow(config.config().of(Key.CONNTRACK), rules, warnings);
    Map<Family, Result> results = new EnumMap<>(Family.class);
    rules.forEach((family, enforced) -> results.put(family, enforced.result()));
    rules.values().forEach(enforced -> warnings.addAll(enforced.remarks()));
    warnings.addAll(sweep.unread());
    warnings.addAll(host.warnings(config.config()));
    return new SyncReport(
        clock.instant(),
        took,
        reasons(occasion.why(), config, to, results),
        config.keeping(kept),
        to.backend().name(),
        to.reasonInFull(),
        occasion.fighting(),
        results,
        sweep,
        flows,
        warnings);
  }

  /** Makes established flows follow a new policy, if the config asks for it; returns how many. */
  private int follow(Conntrack mode, Map<Family, Enforced> rules, List<String> warnings) {
    int flows = 0;
    for (Map.Entry<Family, Enforced> entry : rules.entrySet()) {
      Family family = entry.getKey();
      Result result = entry.getValue().result();
      Optional<Plan> plan = entry.getValue().plan();
      Optional<Policy> now = plan.flatMap(Plan::desired);
      if (now.isEmpty() || result instanceof Result.Failed) {
        continue;
      }
      Policy last = inForce.put(family, now.get());
      // The policy observed in the kernel, or else the last one known to be in force.
      Optional<Policy> before =
          plan.flatMap(it -> it.observed().policy()).or(() -> Optional.ofNullable(last));
      if (mode != Conntrack.KEEP && result instanceof Result.Changed && before.isPresent()) {
        Revision revision = new Revision(before.get(), now.get());
        boolean udpOnly = mode == Conntrack.UDP;
        switch (host.flows().forget(family, revision, udpOnly, host.addresses().get())) {
          case Forgotten.Some(var count) -> flows += count;
          case Forgotten.Failed(var failure) -> warnings.add(failure.toString());
        }
      }
    }
    return flows;
  }

  /**
   * Why the rules changed, which is not always what woke the main thread: a sync may see a new file
   * before the file watch does, or find a flushed chain when it was woken to read the file.
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

  /** Whether the target has a cheap watch to use between syncs. */
  boolean watches() {
    Target last = target;
    return last != null && last.watch() != Watch.NONE;
  }

  /** Whether the rules may have changed since they were last verified. */
  boolean disturbed() {
    return differsFrom(verified);
  }

  /** Whether the rules have changed since the last sync read them, whatever its result. */
  boolean moved() {
    return differsFrom(seen);
  }

  private boolean differsFrom(Optional<Object> before) {
    Target last = target;
    Optional<Object> fingerprint = last == null ? Optional.empty() : last.watch().fingerprint();
    return fingerprint.isPresent() && !fingerprint.equals(before);
  }
}
