package ipmasq.status;

import ipmasq.policy.Translation;
import ipmasq.policy.Verdict;
import java.util.Optional;

/**
 * A verdict in words.
 *
 * @param word one that scripts may test for
 * @param phrase what happens to the packet, for people
 * @param range the range that decided
 * @param because why, for people
 */
public record Explanation(
    String word, String phrase, boolean translated, Optional<String> range, String because) {

  public static Explanation of(Verdict verdict) {
    return switch (verdict) {
      case Verdict.LocalDestination() ->
          untouched("local", "stays on the node", "it is an address of this node");
      case Verdict.OtherSource() ->
          untouched("untouched", "untouched", "its source is in none of sourceCIDRs");
      case Verdict.OtherInterface() ->
          untouched("untouched", "untouched", "it leaves by none of outputInterface's names");
      case Verdict.Exempt(var range) ->
          new Explanation(
              "exempt",
              "keeps its source",
              false,
              Optional.of(range.toString()),
              range + " is not masqueraded");
      case Verdict.Exception(var range, var translation) ->
          translated(
              translation,
              Optional.of(range.toString()),
              range + " is masqueraded, as an exception");
      case Verdict.Outbound(var translation) ->
          translated(
              translation,
              Optional.empty(),
              "none of the ranges that are not masqueraded holds it");
    };
  }

  /** No rules of ours: nothing happens. */
  public static Explanation absent(String family) {
    return untouched(
        "untouched", "untouched", "no rules of this agent for " + family + " are there");
  }

  private static Explanation untouched(String word, String phrase, String because) {
    return new Explanation(word, phrase, false, Optional.empty(), because);
  }

  private static Explanation translated(
      Translation translation, Optional<String> range, String because) {
    boolean snat = translation.addresses().isPresent();
    return new Explanation(
        snat ? "snat" : "masquerade",
        snat ? "gets outputAddress" : "masqueraded",
        true,
        range,
        because);
  }
}
