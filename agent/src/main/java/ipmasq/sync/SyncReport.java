package ipmasq.sync;

import ipmasq.backend.Failure;
import ipmasq.config.Config;
import ipmasq.config.FileSnapshot;
import ipmasq.config.Problem;
import ipmasq.net.Family;
import ipmasq.plan.Change;
import ipmasq.policy.Policy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What one sync saw and did. Health, metrics, logs and the command line all read this.
 *
 * @param effective the config in force, and why that one
 * @param fighting whether another program keeps undoing what syncs repair
 * @param sweep stale rules that were removed, or could not be
 * @param flows how many established flows were made to follow the new rules
 * @param warnings problems of the node that do not keep the rules from being in force
 */
public record SyncReport(
    Instant at,
    Duration took,
    Set<Trigger> why,
    EffectiveConfig effective,
    String backend,
    String backendReason,
    boolean fighting,
    Map<Family, Result> results,
    Sweep sweep,
    int flows,
    List<String> warnings) {

  public SyncReport {
    why = Set.copyOf(why);
    results = Map.copyOf(results);
    warnings = List.copyOf(warnings);
  }

  /** The same with another reason for its backend. */
  public SyncReport because(String reason) {
    return new SyncReport(
        at, took, why, effective, backend, reason, fighting, results, sweep, flows, warnings);
  }

  /** Where the policy in force comes from. */
  public enum Basis {
    /** The file as it is now. */
    FILE,
    /** The last good version of the file; now it is bad. */
    LAST_GOOD,
    /** The config before that of the file, which was on probation and cut pods off. */
    ROLLED_BACK,
    /** The file was never good: the rules of an earlier run are kept, else the defaults apply. */
    FALLBACK;

    /** As in JSON and metrics: {@code last-good}. */
    public String word() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /** The result for one family. */
  public sealed interface Result {
    /** The rules were already in place. */
    record Unchanged() implements Result {}

    /** The rules were changed. */
    record Changed(List<Change> changes) implements Result {
      public Changed {
        changes = List.copyOf(changes);
      }
    }

    /** The rules would be changed, by an agent that writes. */
    record Pending(List<Change> changes) implements Result {
      public Pending {
        changes = List.copyOf(changes);
      }
    }

    /**
     * The rules are not known to be in force.
     *
     * @param unread whether they could not even be read, so that they may be
     */
    record Failed(Failure failure, boolean unread) implements Result {
      /** They were read, and are not in force. */
      public Failed(Failure failure) {
        this(failure, false);
      }
    }
  }

  /** The config in force. */
  public Config config() {
    return effective.config();
  }

  /** The policy in force: that of the config, or one of an earlier run that is kept. */
  public Policy policy(Family family) {
    return effective.policy(family);
  }

  /** Where that config comes from. */
  public Basis basis() {
    return effective.basis();
  }

  /** The files that it was read from; empty if it is the fallback. */
  public List<FileSnapshot> sources() {
    return effective.sources();
  }

  /** What is wrong with the file, errors and warnings. */
  public List<Problem> problems() {
    return effective.problems();
  }

  /** Whether the file is good and no family failed; pending changes are allowed. */
  public boolean ready() {
    return basis() == Basis.FILE && !failed();
  }

  /** Whether every family matches the policy in force and no stale rules remain. */
  public boolean enforced() {
    return none(Result.Failed.class) && none(Result.Pending.class);
  }

  /** Whether something failed. */
  public boolean failed() {
    return !none(Result.Failed.class);
  }

  /** Whether something would be written, by an agent that writes. */
  public boolean pending() {
    return !none(Result.Pending.class);
  }

  /** Whether something was written. */
  public boolean changed() {
    return !none(Result.Changed.class);
  }

  /** Whether nothing was written and nothing failed. */
  boolean settled() {
    return none(Result.Failed.class) && none(Result.Changed.class);
  }

  private boolean none(Class<? extends Result> kind) {
    return all().noneMatch(kind::isInstance);
  }

  private Stream<Result> all() {
    return Stream.concat(
        results.values().stream(), sweep.results().stream().map(Sweep.Swept::result));
  }
}
