package ipmasq.status;

import ipmasq.backend.Failure;
import ipmasq.evidence.flows.FlowEvidence;
import ipmasq.log.Log;
import ipmasq.net.Family;
import ipmasq.plan.Change;
import ipmasq.status.Status.Deed;
import ipmasq.status.Status.Done;
import ipmasq.status.Status.Rules;
import ipmasq.status.Status.Standing;
import ipmasq.status.Status.Totals;
import ipmasq.sync.Sweep.Swept;
import ipmasq.sync.SyncReport;
import ipmasq.sync.SyncReport.Basis;
import ipmasq.sync.SyncReport.Result;
import ipmasq.sync.Trigger;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Builds the status from syncs and live flows. Safe for use by several threads. */
public final class StatusTracker implements Consumer<SyncReport> {
  private final Status.Identity identity;
  private final Supplier<List<Log.Line>> history;

  private final Map<Family, Standing> families = new EnumMap<>(Family.class);
  private final Map<Trigger, Long> syncs = new EnumMap<>(Trigger.class);
  private final Map<Done, Long> done = new HashMap<>();
  private final long[] durations = new long[Totals.BOUNDS.size() + 1];
  private long flows;
  private long rejections;
  private Duration spent = Duration.ZERO;
  private @Nullable SyncReport last;
  private Instant configSince = Instant.EPOCH;
  private FlowEvidence evidence = FlowEvidence.none("only the running agent knows, if it listens");

  /**
   * @param history what happened lately
   */
  public StatusTracker(Status.Identity identity, Supplier<List<Log.Line>> history) {
    this.identity = identity;
    this.history = history;
  }

  /** The status after the latest sync, without a reading of the kernel; empty before the first. */
  public synchronized Optional<Status> status() {
    return Optional.ofNullable(last)
        .map(
            report ->
                new Status(
                    identity,
                    report,
                    configSince,
                    families,
                    new Totals(
                        syncs,
                        done,
                        flows,
                        rejections,
                        LongStream.of(durations).boxed().toList(),
                        spent),
                    history.get(),
                    evidence,
                    Status.Sample.NONE,
                    Optional.empty(),
                    report.at()));
  }

  /** Live flows showed something new. */
  public synchronized void flows(FlowEvidence latest) {
    evidence = latest;
  }

  @Override
  public synchronized void accept(SyncReport report) {
    syncs.merge(
        report.why().stream().min(Trigger::compareTo).orElse(Trigger.RESYNC), 1L, Long::sum);
    long millis = report.took().toMillis();
    durations[(int) Totals.BOUNDS.stream().filter(bound -> millis > bound).count()]++;
    spent = spent.plus(report.took());
    flows += report.flows();
    file(report);
    boolean sameGoal = hasSameGoal(report);
    families.keySet().retainAll(report.results().keySet());
    report.results().forEach((family, result) -> rules(family, result, report, sameGoal));
    report.sweep().results().forEach(swept -> swept(swept, report));
    last = report;
  }

  private void file(SyncReport report) {
    SyncReport before = last;
    if (before == null
        || !before.config().equals(report.config())
        || !before.sources().equals(report.sources())) {
      configSince = report.at();
    }
    boolean known =
        before != null
            && before.basis() != Basis.FILE
            && before.problems().equals(report.problems());
    rejections += report.basis() != Basis.FILE && !known ? 1 : 0;
  }

  /** Whether the previous sync had the same goal: then another program changed the rules. */
  private boolean hasSameGoal(SyncReport report) {
    return last != null
        && last.config().equals(report.config())
        && last.basis() == report.basis()
        && last.backend().equals(report.backend());
  }

  private void rules(Family family, Result result, SyncReport report, boolean sameGoal) {
    String backend = report.backend();
    switch (result) {
      case Result.Unchanged() -> stand(family, report, backend, Rules.IN_FORCE, Optional.empty());
      case Result.Changed _ -> {
        done(Deed.CHANGE, family);
        Standing stood = families.get(family);
        if (sameGoal && stood != null && stood.rules() == Rules.IN_FORCE) {
          done(Deed.REPAIR, family);
        }
        stand(family, report, backend, Rules.IN_FORCE, Optional.empty());
      }
      case Result.Pending(var pending) -> {
        String message = "the rules are not what the config asks for: " + Change.few(pending);
        Failure failure = new Failure(message, identity.agent().advice());
        stand(family, report, backend, Rules.DIFFERENT, Optional.of(failure));
      }
      case Result.Failed(var failure, var unread) -> {
        done(Deed.FAILURE, family);
        Rules rules = unread ? Rules.UNREADABLE : Rules.UNWRITABLE;
        stand(family, report, backend, rules, Optional.of(failure));
      }
    }
  }

  /** Stale rules that were removed, or should have been. */
  private void swept(Swept swept, SyncReport report) {
    Family family = swept.family();
    switch (swept.result()) {
      case Result.Unchanged(), Result.Pending _ -> {}
      case Result.Changed _ -> done(Deed.CHANGE, family);
      case Result.Failed(var failure, _) -> {
        done(Deed.FAILURE, family);
        if (report.config().enables(family)) {
          stand(family, report, swept.backend(), Rules.UNWRITABLE, Optional.of(failure));
        }
      }
    }
  }

  private void done(Deed what, Family family) {
    done.merge(new Done(what, family), 1L, Long::sum);
  }

  private void stand(
      Family family, SyncReport report, String backend, Rules rules, Optional<Failure> failure) {
    Instant since =
        Optional.ofNullable(families.get(family))
            .filter(stood -> (stood.rules() == Rules.IN_FORCE) == (rules == Rules.IN_FORCE))
            .map(Standing::since)
            .orElse(report.at());
    families.put(family, new Standing(since, backend, rules, failure));
  }
}
