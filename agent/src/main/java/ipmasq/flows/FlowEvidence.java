package ipmasq.flows;

import ipmasq.net.Cidr;
import ipmasq.net.Ip;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The evidence of recent samples since the rules last changed. A value.
 *
 * @param note why there is no evidence now, as a phrase; empty if there is some
 * @param samples oldest first
 * @param asConfig how many flows went as the config says since the start, in all samples
 * @param against how many went against it
 */
public record FlowEvidence(
    Optional<String> note, List<FlowSample> samples, long asConfig, long against) {
  /** Older samples are forgotten. */
  public static final Duration WINDOW = Duration.ofMinutes(10);

  private static final int MOST_SAMPLES = 20;
  private static final int MOST_EXAMPLES = 5;

  /** A single wrong flow may have begun at an unlucky moment. */
  private static final int ENOUGH = 2;

  public FlowEvidence {
    samples = List.copyOf(samples);
  }

  /** No evidence, and why. */
  public static FlowEvidence none(String why) {
    return new FlowEvidence(Optional.of(why), List.of(), 0, 0);
  }

  /** With one more sample. */
  public FlowEvidence and(FlowSample sample) {
    List<FlowSample> kept = new ArrayList<>(recent(sample.at()));
    kept.add(sample);
    return new FlowEvidence(
        Optional.empty(),
        kept.subList(Math.max(0, kept.size() - MOST_SAMPLES), kept.size()),
        asConfig + sample.flows() - sample.wrong(),
        against + sample.wrong());
  }

  /** No sample could be taken this time. */
  public FlowEvidence without(Instant now, String why) {
    return new FlowEvidence(Optional.of(why), recent(now), asConfig, against);
  }

  /** Earlier samples say nothing about the current rules. */
  public FlowEvidence anew() {
    return new FlowEvidence(
        Optional.of("none sampled since the rules changed"), List.of(), asConfig, against);
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
    return samples.isEmpty() ? Optional.empty() : Optional.of(samples.getFirst().at());
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
                : wrong()
                    + " of "
                    + flows()
                    + " sampled"
                    + within(now)
                    + " went against the config, e.g. "
                    + examples().getFirst();
    return text
        + (lossy() > 0 ? "; some were lost" : "")
        + note.map(why -> "; now " + why).orElse("");
  }

  /**
   * How flows to the same exempt range went, or to no exempt range.
   *
   * @param exempt whether the config exempts the destination
   */
  public String toward(Ip destination, boolean exempt, Instant now) {
    List<SampledRange> same =
        samples.stream()
            .flatMap(sample -> sample.ranges().stream())
            .filter(each -> each.family() == destination.family())
            .filter(each -> each.range().isPresent() == exempt)
            .filter(each -> each.range().map(range -> range.contains(destination)).orElse(true))
            .toList();
    if (same.isEmpty()) {
      return samples.isEmpty() ? line(now) : "none sampled to there" + within(now);
    }
    int all = same.stream().mapToInt(SampledRange::flows).sum();
    int wrong = same.stream().mapToInt(SampledRange::wrong).sum();
    return all
        + " sampled to "
        + same.getFirst().range().map(Cidr::toString).orElse("no exempt range")
        + within(now)
        + (wrong == 0 ? ", all as the config says" : ", " + wrong + " against the config");
  }

  private String within(Instant now) {
    long seconds = since().map(since -> Duration.between(since, now).toSeconds()).orElse(0L);
    return " in the last " + (seconds < 120 ? Math.max(1, seconds) + " s" : seconds / 60 + " min");
  }
}
