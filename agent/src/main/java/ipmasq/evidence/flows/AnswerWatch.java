package ipmasq.evidence.flows;

import ipmasq.evidence.flows.AnswerChange.Range;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Whether anybody still answers since the rules changed: figures go in, news come out. It knows no
 * clock and no thread; used by one.
 */
public final class AnswerWatch {
  /** The figures are of the last one or two such periods. */
  private static final Duration PERIOD = Duration.ofMinutes(10);

  /** After this a silent range is no longer put down to the change. */
  private static final Duration BLAMED = Duration.ofHours(1);

  private FlowJudge was = new FlowJudge(List.of());
  private FlowJudge is = was;
  private Answers before = new Answers();
  private Answers earlier = before;
  private Answers recent = before;
  private Instant since = Instant.EPOCH;
  private Instant rotated = Instant.EPOCH;
  private boolean comparing;
  private AnswerChange change = AnswerChange.NONE;
  private Optional<Range> undoing = Optional.empty();
  private Optional<Range> undone = Optional.empty();

  /** One thing to say. */
  public sealed interface News {
    /** Answers stopped, for the first of the ranges. */
    record Stopped(String text) implements News {}

    record Returned() implements News {}

    /** What going back to the config before did. */
    record AfterRollback(String text) implements News {}
  }

  /** The rules at the start, with the figures of an earlier process under the same rules. */
  public void begin(FlowJudge rules, Answers figures, Instant now) {
    is = rules;
    earlier = figures;
    rotated = now;
  }

  /** Other rules are in force: what was sampled so far is what the figures are compared with. */
  public void change(FlowJudge rules, Instant now) {
    before = lasting(now);
    was = is;
    is = rules;
    earlier = new Answers();
    recent = new Answers();
    since = now;
    rotated = now;
    comparing = true;
    undone = undoing;
    undoing = Optional.empty();
  }

  /** Answers of some flows. */
  public List<News> add(Answers sampled, Instant now) {
    if (now.isAfter(rotated.plus(PERIOD))) {
      earlier = recent;
      recent = new Answers();
      rotated = now;
    }
    recent = recent.and(sampled);
    boolean wasSilent = !change.silent().isEmpty();
    change =
        comparing
            ? AnswerChange.of(before, figures(), was, is, !earlier.isEmpty())
            : AnswerChange.NONE;
    List<News> news = new ArrayList<>();
    if (!wasSilent && !change.silent().isEmpty()) {
      news.add(new News.Stopped(change.silent().getFirst().toString()));
    } else if (wasSilent && change.silent().isEmpty()) {
      news.add(new News.Returned());
    }
    Optional<String> outcome = undone.flatMap(range -> range.outcome(figures()));
    if (outcome.isPresent()) {
      news.add(new News.AfterRollback(outcome.get()));
      undone = Optional.empty();
    }
    comparing &= now.isBefore(since.plus(BLAMED)) || !change.silent().isEmpty();
    return news;
  }

  /** What the last one or two periods showed. */
  private Answers figures() {
    return earlier.and(recent);
  }

  /**
   * What the next change is compared with. Until the rules have been in force for a period, flows
   * from before them count too, to destinations that they treat alike.
   */
  public Answers lasting(Instant now) {
    return now.isBefore(since.plus(PERIOD))
        ? figures().and(before.only(target -> AnswerChange.isSame(target, was, is)))
        : figures();
  }

  public List<AnsweredRange> answered() {
    return AnsweredRange.of(figures(), is);
  }

  public AnswerChange change() {
    return change;
  }

  /** Whether the rules changed so lately that silence may be their fault. */
  public boolean isComparing() {
    return comparing;
  }

  /** When the rules changed last. */
  public Instant since() {
    return since;
  }

  /** A range that the change cut off, beyond doubt: the rules before will come back for it. */
  public Optional<Range> undo() {
    undoing = change.cutOff();
    return undoing;
  }
}
