package ipmasq.app;

import ipmasq.config.Config;
import ipmasq.evidence.EvidenceThread;
import ipmasq.evidence.flows.AnswerWatch;
import ipmasq.evidence.flows.AnswerWatch.News;
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
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
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

  /** Reading the whole table takes up to two seconds of CPU; figures are saved as often. */
  private static final Duration TABLE = Duration.ofMinutes(2);

  private final Heartbeat heartbeat;
  private final EvidenceThread thread;
  private final Probation probation;
  private final Log log;
  private Consumer<FlowEvidence> reader = _ -> {};
  private FlowEvidence evidence = FlowEvidence.none("none sampled yet");
  private @Nullable SyncReport latest;
  private long writes;
  private boolean wrong;

  // Used by the evidence thread only.
  private final AnswerWatch answers = new AnswerWatch();
  private final Deque<Pending> pending = new ArrayDeque<>();
  private @Nullable Config judgedBy;
  private Map<Family, Policy> policiesBefore = Map.of();
  private Map<Family, Policy> policies = Map.of();
  private FlowJudge judge = new FlowJudge(List.of());
  private @Nullable FlowSampler sampler;
  private long sampledAt;
  private Instant sampleEnds = Instant.MIN;
  private Instant nextSample = Instant.MIN;
  private Instant nextTable = Instant.MIN;
  private boolean olderFlows;

  /** A sample that is not judged yet. */
  private record Pending(FlowSampler sample, long writes, Instant due) {}

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
    if (latest == null && !report.backend().equals("cni")) {
      thread.schedule(FIRST, this::step);
    }
    if (report.changed() || latest != null && !latest.config().equals(report.config())) {
      writes++;
      if (!evidence.samples().isEmpty()) {
        publish(FlowEvidence::anew);
      }
    }
    latest = report;
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
      stopListening();
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
    Instant next =
        Stream.concat(Stream.of(nextSample, nextTable), pending.stream().map(Pending::due))
            .min(Instant::compareTo)
            .orElseThrow();
    Duration idle = Duration.between(now, next);
    return sampler != null || idle.compareTo(STEP) < 0 ? STEP : idle;
  }

  /** Judges by the policies in force from now on, and remembers what was before them. */
  @SuppressWarnings("ReferenceEquality") // a config that is the same is mostly that very one
  private void follow(SyncReport report, Instant now) {
    if (judgedBy == report.config() && report.effective().kept().isEmpty()) {
      return;
    }
    boolean first = judgedBy == null;
    judgedBy = report.config();
    Map<Family, Policy> next = policies(report.config(), report::policy);
    next.keySet().retainAll(report.results().keySet());
    if (first) { // what was in force under an earlier process
      policies = probation.inherited().map(it -> policies(it, it::policy)).orElse(next);
      judge = new FlowJudge(policies.values());
      answers.begin(judge, probation.answers(), now);
    }
    if (!next.equals(policies)) {
      policiesBefore = policies;
      policies = next;
      judge = new FlowJudge(next.values());
      answers.change(judge, now);
      olderFlows = true;
      nextTable = now.plus(PATIENCE);
      nextSample = now;
    }
  }

  /** Of the families that are on; not if sources are configured and none is of that family. */
  private static Map<Family, Policy> policies(Config config, Function<Family, Policy> policy) {
    Map<Family, Policy> policies = new EnumMap<>(Family.class);
    for (Family family : Family.values()) {
      boolean sources =
          config.sourceCidrs().isEmpty()
              || config.sourceCidrs().stream().anyMatch(range -> range.family() == family);
      if (config.enables(family) && sources) {
        policies.put(family, policy.apply(family));
      }
    }
    return policies;
  }

  private void listen(Instant now, long written) throws Impossible {
    boolean attentive =
        answers.isComparing()
            && (now.isBefore(answers.since().plus(ATTENTIVE)) || probation.until().isPresent());
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

  private void stopListening() {
    if (sampler != null) {
      sampler.close();
      sampler = null;
    }
  }

  private void judgeDue(Instant now) throws Impossible {
    while (!pending.isEmpty() && !now.isBefore(pending.getFirst().due)) {
      Pending due = pending.removeFirst();
      Optional<FlowJudge.OwnAddresses> node = NodeAddresses.forFlows();
      if (node.isEmpty()) {
        nothing("no evidence: the node's own addresses are not known");
        return;
      }
      Answers sampled = new Answers();
      FlowSample sample = due.sample.judge(judge, node.get(), sampled);
      synchronized (this) {
        if (writes != due.writes || heartbeat.inSync()) {
          continue;
        }
      }
      answers.add(sampled, now).forEach(this::report);
      publish(
          before ->
              before.and(sample).with(answers.answered(), answers.change(), probation.until()));
      if (probation.until().isPresent()) {
        answers.undo().ifPresent(range -> probation.rollBack(range.toString()));
      }
    }
  }

  private void report(News news) {
    switch (news) {
      case News.Stopped(var text) -> log.warn(LogEvent.of(LogEvent.Kind.ANSWERS_STOPPED, text));
      case News.Returned() ->
          log.info(
              LogEvent.of(
                  LogEvent.Kind.ANSWERS_RETURNED,
                  "flows to the changed ranges are answered again"));
      case News.AfterRollback(var text) -> log.warn(LogEvent.of(LogEvent.Kind.ROLLED_BACK, text));
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
    probation.save(answers.lasting(now));
    boolean older = answers.isComparing() && olderFlows;
    boolean crowded = TableReport.tracked() >= PortPressure.quarter(policies);
    Optional<TableReport> table =
        (older || crowded ? NodeAddresses.forFlows() : Optional.<FlowJudge.OwnAddresses>empty())
            .flatMap(node -> TableReport.read(older ? policiesBefore : Map.of(), policies, node));
    olderFlows = table.flatMap(TableReport::older).filter(flows -> flows > 0).isPresent();
    publish(before -> before.table().equals(table) ? before : before.with(table));
  }

  private void nothing(String why) {
    publish(before -> before.without(Instant.now(), why));
  }

  /** One line when flows start to go wrong, and one when that ends. */
  private synchronized void publish(UnaryOperator<FlowEvidence> change) {
    evidence = change.apply(evidence);
    Optional<SampledFlow> example = evidence.wrongNow();
    if (example.isPresent() && !wrong) {
      log.warn(
          LogEvent.of(
              LogEvent.Kind.FLOWS_WRONG,
              "live flows go against the config: %d of %d sampled, e.g. %s; status lists"
                      .formatted(evidence.wrong(), evidence.flows(), example.get())
                  + " other programs' rules"));
    } else if (example.isEmpty() && wrong) {
      log.info(
          LogEvent.of(
              LogEvent.Kind.FLOWS_RIGHT,
              evidence.samples().isEmpty()
                  ? "the rules changed: live flows are judged from scratch"
                  : "live flows no longer go against the config"));
    }
    wrong = example.isPresent();
    reader.accept(evidence);
  }
}
