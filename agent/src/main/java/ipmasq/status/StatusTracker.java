package ipmasq.status;

import ipmasq.backend.Failure;
import ipmasq.config.Problem;
import ipmasq.flows.FlowEvidence;
import ipmasq.flows.SampledFlow;
import ipmasq.hook.Conflict;
import ipmasq.loop.Pass;
import ipmasq.loop.Pass.Basis;
import ipmasq.loop.Pass.Result;
import ipmasq.loop.Sweep.Swept;
import ipmasq.loop.Trigger;
import ipmasq.net.Family;
import ipmasq.plan.Change;
import ipmasq.status.Event.EventKind;
import ipmasq.status.Status.Standing;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Builds the status from passes, conflicts and live flows. Safe for use by several threads.
 *
 * <p>Passes that changed nothing are only counted; of the others the last few are kept.
 */
public final class StatusTracker implements Consumer<Pass> {
  private static final int EVENTS = 50;
  private static final int CHANGES_NAMED = 20;

  private final Identity identity;

  private final Deque<Event> history = new ArrayDeque<>();
  private final Map<Family, Standing> families = new EnumMap<>(Family.class);
  private final Map<Trigger, Long> passes = new EnumMap<>(Trigger.class);
  private final Map<Family, Long> changes = new EnumMap<>(Family.class);
  private final Map<Family, Long> repairs = new EnumMap<>(Family.class);
  private final Map<Family, Long> failures = new EnumMap<>(Family.class);
  private final Long[] durations = new Long[Totals.BOUNDS.length + 1];
  private long flows;
  private long rejections;
  private Duration spent = Duration.ZERO;
  private @Nullable Pass before;
  private Instant configSince = Instant.EPOCH;
  private FlowEvidence evidence = FlowEvidence.none("only the running agent knows, if it listens");

  private volatile @Nullable Status status;

  public StatusTracker(Identity identity) {
    this.identity = identity;
    Arrays.fill(durations, 0L);
  }

  /** The status after the latest pass; empty before the first. */
  public Optional<Status> status() {
    return Optional.ofNullable(status);
  }

  /** Another program's rule began to override the config, or no longer does. */
  public synchronized void conflict(Instant at, Conflict conflict, boolean came) {
    Event event =
        Event.of(at, came ? EventKind.CONFLICT : EventKind.CONFLICT_GONE, conflict.sentence());
    record(event.about(conflict.family(), conflict.rule()));
    if (before != null) {
      publish(before);
    }
  }

  /** Live flows showed something new. */
  public synchronized void flows(FlowEvidence latest) {
    Optional<SampledFlow> example = latest.wrongNow();
    boolean wrong = evidence.wrongNow().isPresent();
    if (example.isPresent() && !wrong) {
      record(
          Event.of(
              example.get().at(),
              EventKind.FLOWS_WRONG,
              "live flows go against the config: " + example.get()));
    } else if (example.isEmpty() && wrong && !latest.samples().isEmpty()) {
      record(
          Event.of(
              latest.samples().getLast().at(),
              EventKind.FLOWS_RIGHT,
              "live flows no longer go against the config"));
    }
    evidence = latest;
    if (before != null) {
      publish(before);
    }
  }

  @Override
  public synchronized void accept(Pass pass) {
    count(pass);
    file(pass);
    boolean sameAim = sameAim(pass);
    for (Family family : Family.values()) {
      Result result = pass.results().get(family);
      if (result == null) {
        families.remove(family);
      } else {
        rules(family, result, pass, sameAim);
      }
    }
    pass.sweep().results().forEach(swept -> swept(swept, pass));
    before = pass;
    publish(pass);
  }

  private void publish(Pass pass) {
    status =
        new Status(
            identity,
            pass,
            configSince,
            families,
            new Totals(
                passes, changes, repairs, failures, flows, rejections, List.of(durations), spent),
            List.copyOf(history),
            evidence);
  }

  private void count(Pass pass) {
    Trigger main = Trigger.RESYNC;
    for (Trigger trigger : Trigger.values()) {
      if (pass.why().contains(trigger)) {
        main = trigger;
        break;
      }
    }
    passes.merge(main, 1L, Long::sum);
    int bucket = 0;
    while (bucket < Totals.BOUNDS.length && pass.took().toMillis() > Totals.BOUNDS[bucket]) {
      bucket++;
    }
    durations[bucket]++;
    spent = spent.plus(pass.took());
    flows += pass.flows();
  }

  private void file(Pass pass) {
    if (before == null
        || !before.config().equals(pass.config())
        || !before.sources().equals(pass.sources())) {
      configSince = pass.at();
    }
    boolean bad = pass.basis() != Basis.FILE;
    boolean wasBad = before != null && before.basis() != Basis.FILE;
    if (bad && (!wasBad || before != null && !before.problems().equals(pass.problems()))) {
      rejections++;
      record(Event.of(pass.at(), EventKind.REJECTED, firstError(pass)));
    } else if (!bad && wasBad) {
      record(Event.of(pass.at(), EventKind.ACCEPTED, "the config file is good again"));
    }
  }

  private static String firstError(Pass pass) {
    for (Problem problem : pass.problems()) {
      if (problem.severity() == Problem.Severity.ERROR) {
        return problem.toString();
      }
    }
    return "the config file is bad";
  }

  /** Whether the previous pass wanted the same: then another program changed the rules. */
  private boolean sameAim(Pass pass) {
    return before != null
        && before.config().equals(pass.config())
        && before.basis() == pass.basis()
        && before.backend().equals(pass.backend());
  }

  private void rules(Family family, Result result, Pass pass, boolean sameAim) {
    Standing standing = families.get(family);
    boolean failed = standing != null && standing.failure().isPresent();
    switch (result) {
      case Result.Unchanged() -> {
        if (standing != null && failed) {
          record(
              Event.of(
                      pass.at(),
                      EventKind.RECOVERED,
                      standing.unread()
                          ? "the rules can be read again, and are in force"
                          : "the rules are in force again")
                  .in(family, pass.backend()));
        }
        stand(family, pass);
      }
      case Result.Changed(var written) -> {
        changes.merge(family, 1L, Long::sum);
        boolean repair = sameAim && standing != null && !failed;
        if (repair) {
          repairs.merge(family, 1L, Long::sum);
        }
        record(changed(family, pass.backend(), written, pass, repair));
        stand(family, pass);
      }
      case Result.Pending(var changes) ->
          stand(family, pass, pass.backend(), pending(changes), false);
      case Result.Failed(var failure, var unread) -> {
        failures.merge(family, 1L, Long::sum);
        record(
            Event.of(pass.at(), EventKind.FAILED, failure.toString()).in(family, pass.backend()));
        stand(family, pass, pass.backend(), failure, unread);
      }
    }
  }

  private static Failure pending(List<Change> changes) {
    return new Failure(
        "the rules are not what the config asks for: " + Change.few(changes),
        "nothing was written, because this agent only looks");
  }

  /** Stale rules that were removed, or should have been. */
  private void swept(Swept swept, Pass pass) {
    Family family = swept.family();
    switch (swept.result()) {
      case Result.Unchanged(), Result.Pending _ -> {}
      case Result.Changed(var removed) -> {
        changes.merge(family, 1L, Long::sum);
        record(changed(family, swept.backend(), removed, pass, false));
      }
      case Result.Failed(var failure, _) -> {
        failures.merge(family, 1L, Long::sum);
        record(
            Event.of(pass.at(), EventKind.FAILED, failure.toString()).in(family, swept.backend()));
        if (pass.config().enables(family)) {
          stand(family, pass, swept.backend(), failure, false);
        }
      }
    }
  }

  private static Event changed(
      Family family, String backend, List<Change> written, Pass pass, boolean repair) {
    List<Change> named = new ArrayList<>();
    for (Change change : written.subList(0, Math.min(written.size(), CHANGES_NAMED))) {
      named.add(new Change(change.kind(), change.what())); // words: the rule itself is not kept
    }
    String text =
        repair
            ? "put back in place: somebody else had changed the rules"
            : pass.why().contains(Trigger.START)
                ? "brought to the config at the start"
                : "brought to the config";
    return Event.of(pass.at(), repair ? EventKind.REPAIRED : EventKind.CHANGED, text)
        .in(family, backend)
        .writing(named, written.size() - named.size(), pass.took());
  }

  /** Its rules are in force. */
  private void stand(Family family, Pass pass) {
    stand(family, pass, pass.backend(), Optional.empty(), false);
  }

  private void stand(Family family, Pass pass, String backend, Failure failure, boolean unread) {
    stand(family, pass, backend, Optional.of(failure), unread);
  }

  private void stand(
      Family family, Pass pass, String backend, Optional<Failure> failure, boolean unread) {
    Standing standing = families.get(family);
    Instant since =
        standing != null && standing.failure().isPresent() == failure.isPresent()
            ? standing.since()
            : pass.at();
    families.put(family, new Standing(since, backend, failure, unread));
  }

  /** A repeated event makes no second entry: one failure per second would push out all others. */
  private void record(Event event) {
    Event last = history.peekLast();
    if (last != null && last.repeats(event)) {
      history.removeLast();
      history.addLast(last.again(event.at()));
      return;
    }
    history.addLast(event);
    if (history.size() > EVENTS) {
      history.removeFirst();
    }
  }
}
