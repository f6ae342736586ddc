package ipmasq.evidence.flows;

import ipmasq.evidence.flows.Answers.Share;
import ipmasq.evidence.flows.Answers.Target;
import ipmasq.net.Cidr;
import ipmasq.net.Protocols;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Whether anybody still answers since the treatment of some destinations changed. A value.
 *
 * @param ranges those whose treatment changed, most silent flows first
 * @param othersBefore flows to all other destinations, before the change
 * @param othersAfter the same since then
 */
public record AnswerChange(List<Range> ranges, Share othersBefore, Share othersAfter) {
  public static final AnswerChange NONE = new AnswerChange(List.of(), Share.NONE, Share.NONE);

  private static final int ENOUGH_TO_REPORT = 10;
  private static final int ENOUGH_TO_ROLL_BACK = 20;

  /** A range that was answered no more than this is one-way. */
  private static final int ONE_WAY = 20;

  private static final int HALF = 50;
  private static final int WELL_ANSWERED = 80;
  private static final int HARDLY_ANSWERED = 10;
  private static final int FALL_OF_OTHERS = 20;

  public AnswerChange {
    ranges = List.copyOf(ranges);
  }

  /**
   * Flows of one protocol to a range.
   *
   * @param lately whether the change is so long ago that {@code after} has only the latest flows
   */
  public record Range(Cidr range, int protocol, Share before, Share after, boolean lately) {
    /** Whether answers stopped, or became rare. */
    public boolean isSilent() {
      return before.flows() >= ENOUGH_TO_REPORT
          && before.percent() > ONE_WAY
          && after.flows() >= ENOUGH_TO_REPORT
          && 2 * after.percent() <= before.percent();
    }

    private boolean isCutOff() {
      return before.flows() >= ENOUGH_TO_ROLL_BACK
          && before.sources().size() >= 2
          && before.percent() >= WELL_ANSWERED
          && after.flows() >= ENOUGH_TO_ROLL_BACK
          && after.percent() <= HARDLY_ANSWERED;
    }

    /** What going back to the config before did; empty if that is not clear yet. */
    Optional<String> outcome(Answers since) {
      Share share =
          since
              .by(
                  target ->
                      Optional.of(
                          target.protocol() == protocol && range.contains(target.destination())))
              .getOrDefault(true, Share.NONE);
      boolean returned = share.percent() > HALF;
      return share.flows() < ENOUGH_TO_REPORT
          ? Optional.empty()
          : Optional.of(
              "answers %s with the config before (%s %s flows to %s)%s"
                  .formatted(
                      returned ? "returned" : "did not return",
                      share,
                      Protocols.name(protocol),
                      range,
                      returned ? "" : ": the new config was not the cause"));
    }

    Map<String, Object> fields() {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("range", range);
      fields.put("protocol", Protocols.name(protocol));
      fields.put("silent", isSilent());
      fields.put("before", before.fields());
      fields.put("after", after.fields());
      fields.put("message", toString());
      return fields;
    }

    @Override
    public String toString() {
      return "%s %s %s flows to %s were answered, before %s%s"
          .formatted(
              lately ? "lately" : "since the change",
              after,
              Protocols.name(protocol),
              range,
              lately ? "the change " : "",
              before.equals(Share.NONE) ? "none were sampled" : before);
    }
  }

  private record Key(Cidr range, int protocol) {}

  /**
   * Compares them. Flows whose source was not what the policy says are left out: another program
   * decided about those.
   */
  static AnswerChange of(
      Answers before, Answers after, FlowJudge was, FlowJudge is, boolean lately) {
    Map<Key, Share> changedBefore = changed(before, was, is, was);
    List<Range> ranges = new ArrayList<>();
    changed(after, was, is, is)
        .forEach(
            (key, share) -> {
              Share earlier = changedBefore.getOrDefault(key, Share.NONE);
              ranges.add(new Range(key.range, key.protocol, earlier, share, lately));
            });
    ranges.sort(
        Comparator.comparingInt((Range range) -> range.after.answered() - range.after.flows())
            .thenComparing(Range::range));
    return new AnswerChange(ranges, others(before, was, is), others(after, was, is));
  }

  private static Map<Key, Share> changed(
      Answers answers, FlowJudge was, FlowJudge is, FlowJudge then) {
    return answers.by(
        target ->
            isSame(target, was, is) || target.translated() != then.translates(target.destination())
                ? Optional.empty()
                : Optional.of(new Key(was.range(target.destination(), is), target.protocol())));
  }

  private static Share others(Answers answers, FlowJudge was, FlowJudge is) {
    return answers
        .by(target -> Optional.of(isSame(target, was, is)))
        .getOrDefault(true, Share.NONE);
  }

  static boolean isSame(Target target, FlowJudge was, FlowJudge is) {
    return was.treatment(target.destination()).equals(is.treatment(target.destination()));
  }

  /** Ranges where answers stopped. */
  public List<Range> silent() {
    return ranges.stream().filter(Range::isSilent).toList();
  }

  /**
   * A range that the change cut off, beyond doubt: it was well answered and is not any more, while
   * other destinations answer as before.
   */
  Optional<Range> cutOff() {
    boolean othersAnswer =
        othersBefore.flows() >= ENOUGH_TO_ROLL_BACK
            && othersAfter.flows() >= ENOUGH_TO_ROLL_BACK
            && othersBefore.percent() - othersAfter.percent() < FALL_OF_OTHERS;
    return othersAnswer ? ranges.stream().filter(Range::isCutOff).findFirst() : Optional.empty();
  }
}
