package ipmasq.status;

import ipmasq.net.Cidr;
import ipmasq.net.Ip;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What happens to a packet, and why.
 *
 * @param wanted what the config asks for: {@code kept}, {@code translated}, or {@code anything} if
 *     it does not cover such packets
 * @param actual what all rules together do: {@code kept}, {@code translated}, {@code dropped} or
 *     {@code unknown}; empty if the kernel was not asked
 * @param translatedTo the source that it gets, if known
 * @param decidedBy the rule that decides; empty if none does, or it is unknown
 * @param range the range of the config that holds its destination
 * @param pinned whether our rules bind it to its own source
 * @param why for people
 * @param flows what sampled flows to the same range showed; nothing if no agent was asked
 */
@SuppressWarnings("InvalidParam") // "translated" is a value, and no slip for translatedTo
public record Explanation(
    Ip to,
    Optional<Ip> from,
    String wanted,
    Optional<String> actual,
    Optional<String> translatedTo,
    Optional<DecidedBy> decidedBy,
    Optional<Cidr> range,
    boolean pinned,
    String why,
    Optional<String> flows) {
  /** The same with what sampled flows showed. */
  public Explanation with(String sampled) {
    return new Explanation(
        to,
        from,
        wanted,
        actual,
        translatedTo,
        decidedBy,
        range,
        pinned,
        why,
        Optional.of(sampled));
  }

  /**
   * A rule.
   *
   * @param rule its chain and its text
   * @param owner whose it is
   */
  public record DecidedBy(String rule, String owner) {}

  /** For a table. */
  public String phrase() {
    return switch (actual.orElse(wanted)) {
      case "kept" -> "keeps its source";
      case "translated" -> translatedTo.map(to -> "translated to " + to).orElse("translated");
      case "anything" -> "left alone";
      default -> actual.orElse(wanted);
    };
  }

  /** What follows {@code A packet to X}. */
  private String sentence() {
    return switch (actual.orElse(wanted)) {
      case "kept" -> "keeps its source address";
      case "translated" ->
          "gets another source address" + translatedTo.map(to -> ", " + to).orElse("");
      case "dropped" -> "is dropped";
      case "unknown" -> "may keep its source address or not";
      default -> "is left alone";
    };
  }

  /** For scripts. */
  public Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("to", to);
    fields.put("from", from.orElse(null));
    fields.put("wanted", wanted);
    fields.put("actual", actual.orElse(null));
    fields.put("translatedTo", translatedTo.orElse(null));
    fields.put(
        "decidedBy",
        decidedBy.map(by -> StatusJson.pairs("rule", by.rule(), "owner", by.owner())).orElse(null));
    fields.put("why", why);
    fields.put("range", range.orElse(null));
    fields.put("pinned", pinned);
    fields.put("sentence", sentence());
    fields.put("flows", flows.orElse(null));
    return fields;
  }
}
