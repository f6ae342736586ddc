package ipmasq.evidence.flows;

import ipmasq.evidence.flows.Answers.Share;
import ipmasq.net.Cidr;
import ipmasq.net.Protocols;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How sampled flows to a range went.
 *
 * @param range all addresses of the family for destinations in no range of the config
 * @param exempt whether the config exempts them
 * @param translated whether they left with another source
 */
public record AnsweredRange(
    Cidr range, int protocol, boolean exempt, boolean translated, Share share) {
  private static final int MOST = 256;

  /** By the ranges that the config names, the busiest first. */
  static List<AnsweredRange> of(Answers answers, FlowJudge judge) {
    List<AnsweredRange> ranges = new ArrayList<>();
    answers
        .by(
            target ->
                Optional.of(
                    new AnsweredRange(
                        judge.range(target.destination()),
                        target.protocol(),
                        !judge.translates(target.destination()),
                        target.translated(),
                        Share.NONE)))
        .forEach((key, share) -> ranges.add(key.with(share)));
    ranges.sort(Comparator.comparingInt((AnsweredRange each) -> -each.share.flows()));
    return List.copyOf(ranges.subList(0, Math.min(ranges.size(), MOST)));
  }

  private AnsweredRange with(Share other) {
    return new AnsweredRange(range, protocol, exempt, translated, other);
  }

  Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("range", range);
    fields.put("protocol", Protocols.name(protocol));
    fields.put("treatment", translated ? "masqueraded" : "kept");
    fields.putAll(share.fields());
    return fields;
  }
}
