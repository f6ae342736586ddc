package ipmasq.app;

import ipmasq.config.Config;
import ipmasq.evidence.EvidenceThread;
import ipmasq.evidence.flows.AnswerChange;
import ipmasq.evidence.flows.Answers;
import ipmasq.evidence.flows.FlowEvidence;
import ipmasq.evidence.flows.FlowJudge;
import ipmasq.evidence.flows.FlowSample;
import ipmasq.evidence.flows.FlowSampler;
import ipmasq.evidence.flows.FlowSampler.Impossible;
import ipmasq.evidence.flows.PortPressure;
import ipmasq.evidence.flows.SampledFlow;
import ipmasq.evidence.flows.TableReport;
import ipmasq.log.Log;
import ipmasq.log.LogEvent;
import ipmasq.net.Family;
import ipmasq.policy.Policy;
import ipmasq.sync.Heartbeat;
import ipmasq.sync.SyncReport;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Samples new flows of the node, in short steps on the evidence thread, and logs when flows start
 * to go against the config or are no longer answered, and when that ends. The sync thread reports
 * to it; safe for use by several threads.
 *
 * <p>A flow that began while rules were wrong or being written proves nothing. So a sample is
 * judged as much later as a repair would take, and dropped if a sync wrote meanwhile or is still
 * running.
 */
public final class FlowWatch implements Consumer<SyncReport> {
  private static final Duration FIRST = Duration.ofSeconds(3);
  private static final Duration EVERY = Duration.ofSeconds(30);
  private static final Duration STEP = Duration.ofMillis(100);
  private static final Duration LISTEN = Duration.ofSeconds(1);

  /** After a change it listens all the time, for so long or as long as a probation lasts. */
  private static final Duration ATTENTIVE = Duration.ofSeconds(60);

  /** Time for an answer, and for a repair of the rules. */
  private static final Duration PATIENCE = Duration.ofSeconds(3);

  /** The figures are of the last one or two such periods. */
  private static final Duration PERIOD = Duration.ofMinutes(10);

  /** Reading the whole table takes up to two seconds of CPU. */
  private static final Duration TABLE = Duration.ofMinutes(2);

  /** After this a silent range is no longer put down to the change. */
  private static final Duration BLAMED = Duration.ofHours(1);

  private final Heartbeat heartbeat;
  private final EvidenceThread thread;
  private final Probation probation;
  private final Log log;
  private Consumer<FlowEvidence> reader = _ -> {};
  private FlowEvidence evidence = FlowEvidence.none("none sampled yet");
  private @Nullable SyncReport latest;
  private long writes;
  private boolean wrong;
  private boolean started;

  // Used by the evidence thread only.
  private @Nullable Config judgedBy;
  private Map<Family, Policy> policies = Map.of();
  private FlowJudge judge = new FlowJudge(List.of());
  private @Nullable FlowSampler sampler;
  private long sampledAt;
  private Instant sampleEnds = Instant.MIN;
  private Instant nextSample = Instant.MIN;
  private final Deque<Pending> pending = new ArrayDeque<>();
  private Answers earlier = new Answers();
  private Answers recent = new Answers();
  private Instant rotated = Instant.now();
  private @Nullable Comparison comparison;
  private Optional<AnswerChange.Range> undoes = Optional.empty();
  private boolean silent;
  private Map<Family, Policy> policiesBefore = Map.of();
  private boolean olderFlows;
  private Instant nextTable = Instant.MIN;

  /** A sample that is not judged yet. */
  private record Pending(FlowSampler sample, long writes, Instant due) {}

  /**
   * With what the figures since the last change are compared.
   *
   * @param undoes the range that made the config before come back
   */
  private record Comparison(
      Instant since, FlowJudge was, Answers before, Optional<AnswerChange.Range> undoes) {}

  public FlowWatch(Heartbeat heartbeat, EvidenceThread thread, Probation probation, Log log) {
    this.heartbeat = heartbeat;
    this.thread = thread;
    this.probation = probation;
    this.log = log;
  }

  /** Another listener; it gets the current state at once. */
  synchronized void tell(Consumer<FlowEvidence> listener) {
    reader = listener;
    listener.accept(evidence);
  }

  @Override
  public synchronized void accept(SyncReport report) {
    boolean changed =
        report.changed() || latest != null && !latest.config().equals(report.config());
    latest = report;
    if (changed) {
      writes++;
      if (!evidence.samples().isEmpty()) {
        publish(evidence.anew());
      }
    }
    if (!started && !report.backend().equals("cni")) {
      started = true;
      thread.schedule(FIRST, this::step);
    }
  }

  /** Takes no longer than a few milliseconds, so that others get their turn. */
  private Duration step() {
    Instant now = Instant.now();
    SyncReport report;
    long written;
    synchronized (this) {
      report = latest;
      written = writes;
    }
    if (report == null || !report.enforced() || report.fighting()) {
      nothing("no evidence: it is not known that the rules are in force and stay");
      return EVERY;
    }
    follow(report, now);
    try {
      judgeDue(now);
      listen(now, written);
      readTable(now);
    } catch (Impossible why) {
      stopListening();
      nextSample = now.plus(EVERY);
      nothing(String.valueOf(why.getMessage()));
    }
    if (sampler != null) {
      return STEP;
    }
    Instant next = nextSample.isBefore(nextTable) ? nextSample : nextTable;
    if (!pending.isEmpty() && pending.getFirst().due.isBefore(next)) {
      next = pending.getFirst().due;
    }
    Duration idle = Duration.between(now, next);
    return idle.compareTo(STEP) < 0 ? STEP : idle;
  }

  private void listen(Instant now, long written) throws Impossible {
    boolean attentive = isAttentive(now);
    if (sampler == null && !now.isBefore(nextSample)) {
      sampler = FlowSampler.open();
      sampledAt = written;
      sampleEnds = now.plus(attentive ? PATIENCE : LISTEN);
    }
    if (sampler != null && (!sampler.hear() || !now.isBefore(sampleEnds))) {
      pending.add(new Pending(sampler, sampledAt, now.plus(PATIENCE)));
      stopListening();
      nextSample = attentive ? sampleEnds : now.plus(EVERY);
    }
  }

  /**
   * Reads the whole connection table, seldom: where so many flows are tracked that ports may be
   * scarce, and after a change as long as flows keep the source that they had before.
   */
  private void readTable(Instant now) {
    if (sampler != null || now.isBefore(nextTable)) {
      return;
    }
    nextTable = now.plus(TABLE);
    boolean older = comparison != null && olderFlows;
    boolean crowded = TableReport.tracked() >= PortPressure.half(policies) / 2;
    if (older || crowded) {
      Optional<TableReport> table =
          NodeAddresses.forFlows()
              .flatMap(node -> TableReport.read(older ? policiesBefore : Map.of(), policies, node));
      olderFlows = table.flatMap(TableReport::older).filter(flows -> flows > 0).isPresent();
      publishTable(table);
    } else {
      publishTable(Optional.empty());
    }
  }

  private synchronized void publishTable(Optional<TableReport> table) {
    if (!evidence.table().equals(table)) {
      publish(evidence.with(table));
    }
  }

  private void stopListening() {
    if (sampler != null) {
      sampler.close();
      sampler = null;
    }
  }

  private boolean isAttentive(Instant now) {
    return comparison != null
        && (now.isBefore(comparison.since.plus(ATTENTIVE)) || probation.isOn());
  }

  private void judgeDue(Instant now) throws Impossible {
    while (!pending.isEmpty() && !now.isBefore(pending.getFirst().due)) {
      Pending due = pending.removeFirst();
      Optional<FlowJudge.OwnAddresses> node = NodeAddresses.forFlows();
      if (node.isEmpty()) {
        nothing("no evidence: the node's own addresses are not known");
        return;
      }
      Answers answers = new Answers();
      FlowSample sample = due.sample.judge(judge, node.get(), answers);
      synchronized (this) {
        if (writes != due.writes || heartbeat.inSync()) {
          continue;
        }
      }
      recent = recent.and(answers);
      compare(now, sample);
    }
  }

  private void compare(Instant now, FlowSample sample) {
    if (now.isAfter(rotated.plus(PERIOD))) {
      probation.save(earlier.and(recent));
      earlier = recent;
      recent = new Answers();
      rotated = now;
    }
    Answers all = earlier.and(recent);
    AnswerChange change = AnswerChange.NONE;
    if (comparison != null) {
      change = AnswerChange.of(comparison.before, all, comparison.was, judge, !earlier.isEmpty());
      report(change, all);
      if (now.isAfter(comparison.since.plus(BLAMED)) && change.silent().isEmpty()) {
        comparison = null;
      }
    }
    synchronized (this) {
      publish(evidence.and(sample).with(judge.answered(all), change, probation.until()));
    }
    Optional<AnswerChange.Range> cutOff = change.cutOff();
    if (cutOff.isPresent() && probation.isOn()) {
      undoes = cutOff;
      probation.rollBack(cutOff.get().toString());
    }
  }

  /** One line when answers stop, one when they return, and one about what a rollback did. */
  private void report(AnswerChange change, Answers all) {
    boolean isSilent = !change.silent().isEmpty();
    if (isSilent && !silent) {
      log.warn(LogEvent.of(LogEvent.Kind.ANSWERS_STOPPED, change.silent().getFirst().toString()));
    } else if (!isSilent && silent) {
      log.info(
          LogEvent.of(
              LogEvent.Kind.ANSWERS_RETURNED, "flows to the changed ranges are answered again"));
    }
    silent = isSilent;
    Comparison current = comparison;
    if (current != null && current.undoes.isPresent()) {
      AnswerChange.Range range = current.undoes.get();
      range
          .outcome(all)
          .ifPresent(
              outcome -> {
                log.warn(LogEvent.of(LogEvent.Kind.ROLLED_BACK, outcome));
                comparison =
                    new Comparison(current.since, current.was, current.before, Optional.empty());
              });
    }
  }

  /** Judges by the policies in force from now on, and remembers what was before them. */
  @SuppressWarnings("ReferenceEquality") // a config that is the same is mostly that very one
  private void follow(SyncReport report, Instant now) {
    if (judgedBy == report.config() && report.effective().kept().isEmpty()) {
      return;
    }
    boolean first = judgedBy == null;
    judgedBy = report.config();
    Map<Family, Policy> next = new EnumMap<>(Family.class);
    for (Family family : report.results().keySet()) {
      if (isOurs(report.config(), family)) {
        next.put(family, report.policy(family));
      }
    }
    if (!first && next.equals(policies)) {
      return;
    }
    Map<Family, Policy> was = first ? inherited() : policies;
    Answers before = first ? probation.answers() : earlier.and(recent);
    boolean changed = !was.isEmpty() && !was.equals(next);
    FlowJudge judgeBefore = first ? new FlowJudge(was.values()) : judge;
    policiesBefore = was;
    olderFlows = changed;
    nextTable = now.plus(PATIENCE);
    policies = next;
    judge = new FlowJudge(next.values());
    comparison = changed ? new Comparison(now, judgeBefore, before, undoes) : null;
    undoes = Optional.empty();
    earlier = changed ? new Answers() : before;
    recent = new Answers();
    rotated = now;
    nextSample = now;
  }

  /** What was in force under an earlier process. */
  private Map<Family, Policy> inherited() {
    Map<Family, Policy> policies = new EnumMap<>(Family.class);
    probation
        .inherited()
        .ifPresent(
            config ->
                List.of(Family.values()).stream()
                    .filter(family -> config.enables(family) && isOurs(config, family))
                    .forEach(family -> policies.put(family, config.policy(family))));
    return policies;
  }

  /** Not if sources are configured and none is of this family. */
  private static boolean isOurs(Config config, Family family) {
    return config.sourceCidrs().isEmpty()
        || config.sourceCidrs().stream().anyMatch(range -> range.family() == family);
  }

  private synchronized void nothing(String why) {
    publish(evidence.without(Instant.now(), why));
  }

  /** One line when flows start to go wrong, and one when that ends. */
  private void publish(FlowEvidence next) {
    evidence = next;
    Optional<SampledFlow> example = next.wrongNow();
    if (example.isPresent() && !wrong) {
      log.warn(
          LogEvent.of(
              LogEvent.Kind.FLOWS_WRONG,
              "live flows go against the config: "
                  + next.wrong()
                  + " of "
                  + next.flows()
                  + " sampled, e.g. "
                  + example.get()
                  + "; status lists other programs' rules"));
    } else if (example.isEmpty() && wrong) {
      log.info(
          LogEvent.of(
              LogEvent.Kind.FLOWS_RIGHT,
              next.samples().isEmpty()
                  ? "the rules changed: live flows are judged anew"
                  : "live flows no longer go against the config"));
    }
    wrong = example.isPresent();
    reader.accept(next);
  }
}
