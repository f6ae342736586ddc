package ipmasq.loop;

import ipmasq.backend.Failure;
import ipmasq.config.Config;
import ipmasq.config.Problem;
import ipmasq.config.Reading;
import ipmasq.net.Family;
import ipmasq.plan.Change;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What one pass saw and did. Health, metrics, logs and the command line all read this.
 *
 * @param config the config in force
 * @param basis where that config comes from
 * @param sources the files that it was read from; empty where it is the fallback
 * @param problems what is wrong with the file, errors and warnings
 * @param fighting whether another program keeps undoing what passes mend
 * @param flows how many flows under way were made to follow the new rules
 * @param warnings what is odd about the node, though the rules are as they should be
 */
public record Pass(
    Instant at,
    Duration took,
    Set<Trigger> why,
    Config config,
    Basis basis,
    List<Reading.Source> sources,
    List<Problem> problems,
    String backend,
    String backendReason,
    boolean fighting,
    Map<Family, Result> results,
    int flows,
    List<String> warnings) {

  public Pass {
    why = Set.copyOf(why);
    sources = List.copyOf(sources);
    problems = List.copyOf(problems);
    results = Map.copyOf(results);
    warnings = List.copyOf(warnings);
  }

  /** One that concerned no flows, on a node with nothing odd about it. */
  public Pass(
      Instant at,
      Duration took,
      Set<Trigger> why,
      Config config,
      Basis basis,
      List<Reading.Source> sources,
      List<Problem> problems,
      String backend,
      String backendReason,
      boolean fighting,
      Map<Family, Result> results) {
    this(
        at,
        took,
        why,
        config,
        basis,
        sources,
        problems,
        backend,
        backendReason,
        fighting,
        results,
        0,
        List.of());
  }

  /** What the policy in force rests on. */
  public enum Basis {
    /** The file as it is now. */
    FILE,
    /** The file as it last was good; now it is bad. */
    LAST_GOOD,
    /** The file is bad and never was good: what an earlier run left is kept, else the defaults. */
    FALLBACK
  }

  /** What came of it for one family. */
  public sealed interface Result {
    /** Everything was as it should be. */
    record Unchanged() implements Result {}

    /** The rules were changed. */
    record Changed(List<Change> changes) implements Result {
      public Changed {
        changes = List.copyOf(changes);
      }
    }

    /** The rules are not known to be as they should be. */
    record Failed(Failure failure) implements Result {}
  }

  /** Whether the file is good and every family is as it should be. */
  public boolean good() {
    return basis == Basis.FILE && enforced();
  }

  /** Whether every family is as the policy in force says. */
  public boolean enforced() {
    return results.values().stream().noneMatch(Result.Failed.class::isInstance);
  }

  /** Whether something was written. */
  public boolean changed() {
    return results.values().stream().anyMatch(Result.Changed.class::isInstance);
  }

  /** How many changes were written. */
  int changes() {
    int count = 0;
    for (Result result : results.values()) {
      if (result instanceof Result.Changed(var changes)) {
        count += changes.size();
      }
    }
    return count;
  }
}
