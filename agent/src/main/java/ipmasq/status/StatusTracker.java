package ipmasq.status;

import ipmasq.backend.Failure;
import ipmasq.config.Problem;
import ipmasq.evidence.flows.FlowEvidence;
import ipmasq.evidence.flows.SampledFlow;
import ipmasq.evidence.neighbours.Conflict;
import ipmasq.net.Family;
import ipmasq.plan.Change;
import ipmasq.status.Event.Kind;
import ipmasq.status.Event.What;
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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Builds the status from syncs, conflicts and live flows. Safe for use by several threads.
 *
 * <p>Syncs that changed nothing are only counted; of the others the last few are kept.
 */
public final class StatusTracker implements Consumer<SyncReport> {
  private static final int EVENTS = 50;

  private final Status.Identity identity;

  private final Deque<Event> history = new ArrayDeque<>();
  private final Map<Family, Standing> families = new EnumMap<>(Family.class);
  private final Map<Trigger, Long> syncs = new EnumMap<>(Trigger.class);
  private final Map<Family, Long> changes = new EnumMap<>(Family.class);
  private final Map<Family, Long> repairs = new EnumMap<>(Family.class);
  private final Map<Family, Long> failures = new EnumMap<>(Family.class);
  private final List<Long> durations =
      new ArrayList<>(Collections.nCopies(Totals.BOUNDS.size() + 1, 0L));
  private long flows;
  private long rejections;
  private Duration spent = Duration.ZERO;
  private @Nullable SyncReport before;
  private Instant configSince = Instant.EPOCH;
  private FlowEvidence evidence = FlowEvidence.none("only the running agent knows, if it listens");

  private volatile @Nullable Status status;

  public StatusTracker(Status.Identity identity) {
    this.identity = identity;
  }

  /** The status after the latest sync, without a reading of the kernel; empty before the first. */
  public Optional<Status> status() {
    return Optional.ofNullable(status);
  }

  /** Another program's rule began to override the config, or no longer does. */
  public synchronized void conflict(Instant at, Conflict conflict, boolean came) {
    record(
        at,
        What.ofForeignRule(
            came ? Kind.CONFLICT : Kind.CONFLICT_GONE,
            conflict.family(),
            conflict.sentence(),
            conflict.rule().text()));
    publish();
  }

  /** Live flows showed something new. */
  public synchronized void flows(FlowEvidence latest) {
    Optional<SampledFlow> example = latest.wrongNow();
    boolean wrong = evidence.wrongNow().isPresent();
    if (example.isPresent() && !wrong) {
      record(
          example.get().at(),
          What.of(Kind.FLOWS_WRONG, "live flows go against the config: " + example.get()));
    } else if (example.isEmpty() && wrong && !latest.samples().isEmpty()) {
      record(
          latest.samples().getLast().at(),
          What.of(Kind.FLOWS_RIGHT, "live flows no longer go against the config"));
    }
    evidence = latest;
    publish();
  }

  @Override
  public synchronized void accept(SyncReport report) {
    count(report);
    file(report);
    boolean sameGoal = hasSameGoal(report);
    families.keySet().retainAll(report.results().keySet());
    for (Family family : Family.values()) {
      Optional.ofNullable(report.results().get(family))
          .ifPresent(result -> rules(family, result, report, sameGoal));
    }
    report.sweep().results().forEach(swept -> swept(swept, report));
    before = report;
    publish();
  }

  private void publish() {
    SyncReport last = before;
    if (last != null) {
      status =
          new Status(
              identity,
              last,
              configSince,
              families,
              new Totals(syncs, changes, repairs, failures, flows, rejections, durations, spent),
              List.copyOf(history),
              evidence,
              KernelSampler.Sample.NONE,
              Optional.empty(),
              last.at());
    }
  }

  private void count(SyncReport report) {
    Trigger main =
        Arrays.stream(Trigger.values())
            .filter(report.why()::contains)
            .findFirst()
            .orElse(Trigger.RESYNC);
    syncs.merge(main, 1L, Long::sum);
    long millis = report.took().toMillis();
    int bucket = (int) Totals.BOUNDS.stream().filter(bound -> millis > bound).count();
    durations.set(bucket, durations.get(bucket) + 1);
    spent = spent.plus(report.took());
    flows += report.flows();
  }

  private void file(SyncReport report) {
    if (before == null
        || !before.config().equals(report.config())
        || !before.sources().equals(report.sources())) {
      configSince = report.at();
    }
    boolean bad = report.basis() != Basis.FILE;
    boolean wasBad = before != null && before.basis() != Basis.FILE;
    if (bad && (!wasBad || before != null && !before.problems().equals(report.problems()))) {
      rejections++;
      String error =
          report.problems().stream()
              .filter(problem -> problem.severity() == Problem.Severity.ERROR)
              .findFirst()
              .map(Problem::toString)
              .orElse("the config file is bad");
      record(report.at(), What.of(Kind.REJECTED, error));
    } else if (!bad && wasBad) {
      record(report.at(), What.of(Kind.ACCEPTED, "the config file is good again"));
    }
  }

  /** Whether the previous sync had the same goal: then another program changed the rules. */
  private boolean hasSameGoal(SyncReport report) {
    return before != null
        && before.config().equals(report.config())
        && before.basis() == report.basis()
        && before.backend().equals(report.backend());
  }

  private void rules(Family family, Result result, SyncReport report, boolean sameGoal) {
    Rules stood =
        Optional.ofNullable(families.get(family)).map(Standing::rules).orElse(Rules.DIFFERENT);
    String backend = report.backend();
    switch (result) {
      case Result.Unchanged() -> {
        switch (stood) {
          case IN_FORCE, DIFFERENT -> {}
          case UNREADABLE ->
              recovered(family, report, "the rules can be read again, and are in force");
          case UNWRITABLE -> recovered(family, report, "the rules are in force again");
        }
        stand(family, report, backend, Rules.IN_FORCE, Optional.empty());
      }
      case Result.Changed(var written) -> {
        boolean repair = sameGoal && stood == Rules.IN_FORCE;
        if (repair) {
          repairs.merge(family, 1L, Long::sum);
        }
        changed(family, backend, written, report, repair);
        stand(family, report, backend, Rules.IN_FORCE, Optional.empty());
      }
      case Result.Pending(var pending) -> {
        Failure failure =
            new Failure(
                "the rules are not what the config asks for: " + Change.few(pending),
                identity.agent().advice());
        stand(family, report, backend, Rules.DIFFERENT, Optional.of(failure));
      }
      case Result.Failed(var failure, var unread) ->
          failed(family, backend, failure, unread ? Rules.UNREADABLE : Rules.UNWRITABLE, report);
    }
  }

  /** Stale rules that were removed, or should have been. */
  private void swept(Swept swept, SyncReport report) {
    switch (swept.result()) {
      case Result.Unchanged(), Result.Pending _ -> {}
      case Result.Changed(var removed) ->
          changed(swept.family(), swept.backend(), removed, report, false);
      case Result.Failed(var failure, _) ->
          failed(swept.family(), swept.backend(), failure, Rules.UNWRITABLE, report);
    }
  }

  private void recovered(Family family, SyncReport report, String text) {
    record(report.at(), What.ofRules(Kind.RECOVERED, family, report.backend(), text, List.of()));
  }

  private void changed(
      Family family, String backend, List<Change> written, SyncReport report, boolean repair) {
    changes.merge(family, 1L, Long::sum);
    String text =
        repair
            ? "restored after another program had changed them"
            : report.why().contains(Trigger.START)
                ? "written at the start"
                : "written as the config asks";
    record(
        report.at(),
        What.ofRules(repair ? Kind.REPAIRED : Kind.CHANGED, family, backend, text, written));
  }

  private void failed(
      Family family, String backend, Failure failure, Rules rules, SyncReport report) {
    failures.merge(family, 1L, Long::sum);
    record(report.at(), What.ofRules(Kind.FAILED, family, backend, failure.toString(), List.of()));
    if (report.config().enables(family)) {
      stand(family, report, backend, rules, Optional.of(failure));
    }
  }

  private void stand(
      Family family, SyncReport report, String backend, Rules rules, Optional<Failure> failure) {
    Standing stood = families.get(family);
    boolean inForce = rules == Rules.IN_FORCE;
    Instant since =
        stood != null && (stood.rules() == Rules.IN_FORCE) == inForce ? stood.since() : report.at();
    families.put(family, new Standing(since, backend, rules, failure));
  }

  /** A repeated event makes no second entry: one failure per second would push out all others. */
  private void record(Instant at, What what) {
    Event last = history.peekLast();
    if (last != null && last.what().equals(what)) {
      history.removeLast();
      history.addLast(last.again(at));
      return;
    }
    history.addLast(Event.once(at, what));
    if (history.size() > EVENTS) {
      history.removeFirst();
    }
  }
}
