package ipmasq.status;

import ipmasq.net.Cidr;
import ipmasq.net.Ip;
import ipmasq.policy.Packet;
import ipmasq.policy.Policy;
import ipmasq.policy.Translation;
import ipmasq.policy.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What our policy does to a packet, in words.
 *
 * @param verdict one word that scripts may test for
 * @param range the range that decided
 * @param pinned whether it keeps its source whatever later chains would do
 * @param because why, for people
 */
public record Explanation(
    String verdict, boolean translated, Optional<String> range, boolean pinned, String because) {

  /**
   * @param found the policy in force; nothing: there are no rules of ours
   * @param from where the packet comes from; unknown, it is taken for ours to translate
   * @param via the interface that it leaves by; the same
   */
  public static Explanation of(
      Optional<Policy> found, Ip destination, Optional<Ip> from, Optional<String> via) {
    if (found.isEmpty()) {
      return untouched(
          "untouched", "no rules of this agent for " + destination.family() + " are there");
    }
    Policy policy = found.get();
    Optional<Cidr> source =
        from.isPresent() ? Optional.empty() : policy.sources().stream().findFirst();
    Optional<String> out =
        via.isPresent() ? Optional.empty() : policy.interfaces().stream().findFirst();
    Packet packet =
        new Packet(
            from.or(() -> source.map(Cidr::first)).orElse(null),
            destination,
            Routes.isLocal(destination),
            via.or(() -> out).orElse(null));
    List<String> assumed = new ArrayList<>();
    source.ifPresent(s -> assumed.add("from " + s));
    out.ifPresent(o -> assumed.add("out of " + o));
    return of(policy.verdictFor(packet), policy.pinned()).given(assumed);
  }

  private static Explanation of(Verdict verdict, boolean pinned) {
    return switch (verdict) {
      case Verdict.LocalDestination() -> untouched("local", "it is an address of this node");
      case Verdict.OtherSource() -> untouched("untouched", "its source is in none of sourceCIDRs");
      case Verdict.OtherInterface() ->
          untouched("untouched", "it leaves by none of outputInterface's names");
      case Verdict.Exempt(var range) ->
          new Explanation(
              "exempt",
              false,
              Optional.of(range.toString()),
              pinned,
              range
                  + " is not masqueraded"
                  + (pinned ? ", and pinned: no later chain masquerades it" : ""));
      case Verdict.Exception(var range, var translation) ->
          new Explanation(
              action(translation),
              true,
              Optional.of(range.toString()),
              false,
              range + " is masqueraded, as an exception");
      case Verdict.Outbound(var translation) ->
          new Explanation(
              action(translation),
              true,
              Optional.empty(),
              false,
              "none of the ranges that are not masqueraded holds it");
    };
  }

  private static Explanation untouched(String verdict, String because) {
    return new Explanation(verdict, false, Optional.empty(), false, because);
  }

  private static String action(Translation translation) {
    return translation.addresses().isPresent() ? "snat" : "masquerade";
  }

  /** The same, with what was assumed of the packet where that made a difference. */
  private Explanation given(List<String> assumed) {
    return assumed.isEmpty() || !translated && !pinned
        ? this
        : new Explanation(
            verdict,
            translated,
            range,
            pinned,
            because + "; for packets " + String.join(", ", assumed));
  }

  /** For a table. */
  public String phrase() {
    return switch (verdict) {
      case "exempt" -> "keeps its source";
      case "masquerade" -> "masqueraded";
      case "snat" -> "gets outputAddress";
      default -> verdict;
    };
  }

  /** What follows {@code A packet to X}. */
  String sentence() {
    return switch (verdict) {
      case "exempt" -> "keeps its source address";
      case "masquerade" -> "is masqueraded";
      case "snat" -> "gets outputAddress as its source";
      case "local" -> "stays on the node";
      default -> "is left alone";
    };
  }
}
