package ipmasq.status;

import ipmasq.hook.Decision;
import ipmasq.hook.Hook.Fate;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the kernel's whole hook does to a packet, in words: our rules and everybody else's.
 *
 * @param verdict one word that scripts may test for
 * @param rules those that decide, or perhaps do
 * @param sentence for people, without a full stop
 */
public record KernelView(String verdict, boolean ours, List<String> rules, String sentence) {
  private static final int RULES_NAMED = 3;

  public static KernelView of(Fate fate) {
    return switch (fate) {
      case Fate.Untouched() ->
          new KernelView(
              "untouched", false, List.of(), "no rule at the nat postrouting hook translates it");
      case Fate.Decided(var decision) -> decided(decision);
      case Fate.CannotTell(var perhaps) -> cannotTell(perhaps);
    };
  }

  private static KernelView decided(Decision decision) {
    String rule = rule(decision);
    return switch (decision.kind()) {
      case OURS -> new KernelView("translated", true, List.of(), "our rules translate it");
      case TRANSLATED ->
          new KernelView(
              "translated",
              false,
              List.of(rule),
              "a rule of " + decision.owner().title() + " translates it, not ours: " + rule);
      case PINNED ->
          new KernelView(
              "untouched", true, List.of(), "our rules bind it to the source that it has");
      case KEPT ->
          new KernelView(
              "untouched", false, List.of(rule), "it is bound to the source that it has: " + rule);
      case DROPPED -> new KernelView("dropped", false, List.of(rule), "it is dropped: " + rule);
      case SHIELDED, UNCLEAR -> cannotTell(List.of(decision));
    };
  }

  private static KernelView cannotTell(List<Decision> perhaps) {
    List<String> rules = perhaps.stream().map(KernelView::rule).toList();
    StringBuilder text = new StringBuilder("cannot tell, it depends on ");
    for (int i = 0; i < Math.min(RULES_NAMED, perhaps.size()); i++) {
      Decision decision = perhaps.get(i);
      text.append(i == 0 ? "" : "; on ").append(whose(decision)).append(" for ");
      text.append(decision.packets()).append(": ").append(rule(decision));
    }
    if (perhaps.size() > RULES_NAMED) {
      text.append("; and on ").append(perhaps.size() - RULES_NAMED).append(" more");
    }
    return new KernelView("cannot-tell", false, rules, text.toString());
  }

  private static String whose(Decision decision) {
    return switch (decision.kind()) {
      case OURS, PINNED -> "our rules";
      case TRANSLATED, KEPT, SHIELDED, DROPPED, UNCLEAR -> "a rule of " + decision.owner().title();
    };
  }

  private static String rule(Decision decision) {
    return decision.base().name() + ": " + decision.rule().text();
  }

  /** What to add to an explanation by our policy: nothing where the two agree. */
  public Optional<String> objection(Explanation explanation) {
    boolean agree =
        switch (verdict) {
          case "translated" -> explanation.translated() && ours;
          case "untouched" -> !explanation.translated();
          default -> false;
        };
    return agree ? Optional.empty() : Optional.of(sentence);
  }

  /** For scripts. */
  public Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("verdict", verdict);
    fields.put("ours", ours);
    fields.put("rules", rules);
    fields.put("sentence", sentence);
    return fields;
  }
}
