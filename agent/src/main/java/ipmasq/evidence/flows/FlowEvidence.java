package ipmasq.evidence.flows;

import ipmasq.evidence.flows.Answers.Share;
import ipmasq.net.Cidr;
import ipmasq.net.Ip;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The evidence of recent samples since the rules last changed. A value.
 *
 * @param note why there is no evidence now, as a phrase; empty if there is some
 * @param samples oldest first
 * @param asConfig how many flows went as the config says since the start, in all samples
 * @param against how many went against it
 * @param answers how flows to each range went, busiest range first
 * @param change whether anybody still answers since the last change
 * @param probation until when the config is on probation, if it is
 * @param table how full connection tracking and the ports are, if that was of interest
 */
public record FlowEvidence(
    Optional<String> note,
    List<FlowSample> samples,
    long asConfig,
    long against,
    List<AnsweredRange> answers,
    AnswerChange change,
    Optional<Instant> probation,
    Optional<TableReport> table) {
  private static final Duration WINDOW = Duration.ofMinutes(10);
  private static final int MOST_SAMPLES = 40;
  private static final int MOST_EXAMPLES = 5;
  private static final int MOST_RANGES = 20;
  private static final double CROWDED = 0.5;

  /** A single wrong flow may have begun at an unlucky moment. */
  private static final int ENOUGH = 2;

  public FlowEvidence {
    samples = List.copyOf(samples);
    answers = List.copyOf(answers);
  }

  /** No evidence, and why. */
  public static FlowEvidence none(String why) {
    Optional<String> note = Optional.of(why);
    return new FlowEvidence(
        note, List.of(), 0, 0, List.of(), AnswerChange.NONE, Optional.empty(), Optional.empty());
  }

  /** With one more sample. */
  public FlowEvidence and(FlowSample sample) {
    List<FlowSample> kept = new ArrayList<>(recent(sample.at()));
    kept.add(sample);
    kept = kept.subList(Math.max(0, kept.size() - MOST_SAMPLES), kept.size());
    return new FlowEvidence(
        Optional.empty(),
        kept,
        asConfig + sample.flows() - sample.wrong(),
        against + sample.wrong(),
        answers,
        change,
        probation,
        table);
  }

  /** With what is known of answers now. */
  public FlowEvidence with(
      List<AnsweredRange> nowAnswered, AnswerChange nowChanged, Optional<Instant> until) {
    return new FlowEvidence(
        note, samples, asConfig, against, nowAnswered, nowChanged, until, table);
  }

  /** With what a reading of the whole connection table gave. */
  public FlowEvidence with(Optional<TableReport> nowRead) {
    return new FlowEvidence(note, samples, asConfig, against, answers, change, probation, nowRead);
  }

  /** No sample could be taken this time. */
  public FlowEvidence without(Instant now, String why) {
    return of(recent(now), why);
  }

  /** Earlier samples say nothing about the current rules. */
  public FlowEvidence anew() {
    return of(List.of(), "none sampled since the rules changed");
  }

  private FlowEvidence of(List<FlowSample> kept, String why) {
    return new FlowEvidence(
        Optional.of(why), kept, asConfig, against, answers, change, probation, table);
  }

  private List<FlowSample> recent(Instant now) {
    Instant oldest = now.minus(WINDOW);
    return samples.stream().filter(sample -> !sample.at().isBefore(oldest)).toList();
  }

  /** How many flows were judged. */
  public int flows() {
    return samples.stream().mapToInt(FlowSample::flows).sum();
  }

  /** How many of them went against the config. */
  public int wrong() {
    return samples.stream().mapToInt(FlowSample::wrong).sum();
  }

  /** In how many samples the kernel dropped flows before they were read. */
  public int lossy() {
    return (int) samples.stream().filter(FlowSample::lost).count();
  }

  public Optional<Instant> since() {
    return samples.stream().map(FlowSample::at).findFirst();
  }

  /** A few flows that went against the config, newest first. */
  public List<SampledFlow> examples() {
    return samples.reversed().stream()
        .flatMap(sample -> sample.examples().reversed().stream())
        .limit(MOST_EXAMPLES)
        .toList();
  }

  /**
   * An example, where flows go against the config now: at least two did in the last two samples
   * that saw any flow.
   */
  public Optional<SampledFlow> wrongNow() {
    int wrong =
        samples.reversed().stream()
            .filter(sample -> sample.flows() > 0)
            .limit(2)
            .mapToInt(FlowSample::wrong)
            .sum();
    return wrong >= ENOUGH ? examples().stream().findFirst() : Optional.empty();
  }

  /** For people, in one line. */
  public String line(Instant now) {
    if (samples.isEmpty()) {
      return note.orElse("none sampled yet");
    }
    String text =
        flows() == 0
            ? "no flow of a pod seen" + within(now)
            : wrong() == 0
                ? flows() + " sampled" + within(now) + ", all as the config says"
                : "%d of %d sampled%s went against the config, e.g. %s"
                    .formatted(wrong(), flows(), within(now), examples().getFirst());
    return text
        + (lossy() > 0 ? "; some were lost" : "")
        + note.map(why -> "; now " + why).orElse("");
  }

  /** Whether anybody answers, a line for each thing to say. */
  public List<String> answerLines() {
    List<String> lines = new ArrayList<>();
    change.silent().forEach(range -> lines.add(range.toString()));
    int all = answers.stream().mapToInt(range -> range.share().flows()).sum();
    if (lines.isEmpty() && all > 0) {
      int answered = answers.stream().mapToInt(range -> range.share().answered()).sum();
      lines.add(answered + " of " + all + " sampled flows were answered");
    }
    if (table.isPresent()) {
      int older = table.get().older().orElse(0);
      if (older > 0) {
        lines.add(
            older
                + " flows keep the source that they got before the change: they end by themselves,"
                + " or see the key conntrack");
      }
      table.get().ports().stream()
          .filter(ports -> ports.ratio() >= CROWDED)
          .forEach(ports -> lines.add(ports.toString()));
    }
    probation.ifPresent(until -> lines.add("the config is on probation until " + until));
    return lines;
  }

  /** The same for scripts. */
  public Map<String, Object> answerFields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("answers", answers.stream().limit(MOST_RANGES).map(AnsweredRange::fields).toList());
    fields.put("changed", change.ranges().stream().map(AnswerChange.Range::fields).toList());
    fields.put("table", table.isPresent() ? table.get().fields() : null);
    fields.put("probationUntil", probation.isPresent() ? probation.get() : null);
    return fields;
  }

  /**
   * How flows to the narrowest range that holds a destination went.
   *
   * @param exempt whether the config exempts it
   */
  public String toward(Ip destination, boolean exempt, Instant now) {
    List<AnsweredRange> judged =
        samples.stream()
            .flatMap(sample -> sample.ranges().stream())
            .filter(each -> each.exempt() == exempt && each.range().contains(destination))
            .filter(each -> each.share().judged() > 0)
            .sorted(Comparator.comparingInt(each -> -each.range().prefix()))
            .toList();
    if (samples.isEmpty() || judged.isEmpty()) {
      return samples.isEmpty() ? line(now) : "none sampled to there" + within(now);
    }
    Cidr range = judged.getFirst().range();
    Share all =
        judged.stream()
            .filter(each -> each.range().equals(range))
            .map(AnsweredRange::share)
            .reduce(Share.NONE, Share::and);
    return "%d sampled to %s%s, %s"
        .formatted(
            all.judged(),
            exempt || range.prefix() > 0 ? range : "no exempt range",
            within(now),
            all.against() == 0 ? "all as the config says" : all.against() + " against the config");
  }

  private String within(Instant now) {
    long seconds = since().map(since -> Duration.between(since, now).toSeconds()).orElse(0L);
    return " in %s of the last %s"
        .formatted(
            samples.size() == 1 ? "1 sample" : samples.size() + " samples",
            seconds < 120 ? Math.max(1, seconds) + " s" : seconds / 60 + " min");
  }
}
