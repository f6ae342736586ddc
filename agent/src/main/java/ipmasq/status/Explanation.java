package ipmasq.status;

import ipmasq.hook.Actual;
import ipmasq.hook.Decision;
import ipmasq.hook.Flow;
import ipmasq.hook.Hook;
import ipmasq.net.Cidr;
import ipmasq.net.Ip;
import ipmasq.policy.Packet;
import ipmasq.policy.Policy;
import ipmasq.policy.Translation;
import ipmasq.policy.Verdict;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
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
  private static final int RULES_NAMED = 3;

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

  /** What the config asks for, and why. */
  private record Wanted(String word, Optional<Cidr> range, Optional<Translation> how, String why) {}

  /**
   * By the config alone.
   *
   * @param policy empty: the agent has no rules there
   */
  public static Explanation ofPolicy(ExplainRequest question, Optional<Policy> policy) {
    Wanted wanted = wanted(question, policy, question.via().stream().toList());
    boolean pinned = wanted.range.isPresent() && pins(policy, wanted);
    return new Explanation(
        question.to(),
        question.from(),
        wanted.word,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        wanted.range,
        pinned,
        wanted.why + (pinned ? PINNED : "") + assumed(question, policy, wanted),
        Optional.empty());
  }

  private static final String PINNED = ", and pinned: no later chain masquerades it";

  private static boolean pins(Optional<Policy> policy, Wanted wanted) {
    return policy.filter(Policy::pinned).isPresent() && wanted.word.equals("kept");
  }

  /**
   * By all rules at the hook.
   *
   * @param policy what the config asks for
   * @param services the nat prerouting hook, where services get their destination
   */
  public static Explanation of(
      ExplainRequest question, Optional<Policy> policy, Hook hook, Optional<Hook> services) {
    List<String> interfaces = question.interfaces();
    Flow flow = question.flow(policy, interfaces);
    Wanted wanted = wanted(question, policy, interfaces);
    Optional<Decision> redirected = redirected(flow, services);
    Words words = new Words(question, policy, wanted, interfaces, hook);
    if (flow.local()) {
      return words.local(redirected);
    }
    if (redirected.isPresent()) {
      return words.service(redirected.get());
    }
    return words.actual(hook.actual(flow), hook.decisions(flow));
  }

  private static Optional<Decision> redirected(Flow flow, Optional<Hook> services) {
    return services.flatMap(
        hook ->
            hook.decisions(flow).stream()
                .filter(
                    d ->
                        d.kind() == Decision.DecisionKind.REDIRECTED
                            || d.kind() == Decision.DecisionKind.UNCLEAR)
                .findFirst());
  }

  private static Wanted wanted(
      ExplainRequest question, Optional<Policy> found, List<String> interfaces) {
    if (found.isEmpty()) {
      return anything("no rules of this agent for " + question.to().family() + " are there");
    }
    Policy policy = found.get();
    boolean assumed = question.from().isEmpty();
    Optional<Ip> source =
        assumed ? policy.sources().stream().findFirst().map(Cidr::first) : question.from();
    Optional<String> out =
        interfaces.isEmpty()
            ? policy.interfaces().stream().findFirst()
            : Optional.of(interfaces.getFirst());
    Packet packet =
        new Packet(
            source.orElse(null),
            question.to(),
            RouteLookup.isLocal(question.to()),
            out.orElse(null));
    return switch (policy.verdictFor(packet)) {
      case Verdict.LocalDestination() -> anything("it is an address of this node");
      case Verdict.OtherSource() -> anything("its source is in none of sourceCIDRs");
      case Verdict.OtherInterface() -> anything("it leaves by none of outputInterface's names");
      case Verdict.Exempt(var range) ->
          new Wanted("kept", Optional.of(range), Optional.empty(), range + " is not masqueraded");
      case Verdict.Exception(var range, var how) ->
          new Wanted(
              "translated",
              Optional.of(range),
              Optional.of(how),
              range + " is masqueraded, as an exception");
      case Verdict.Outbound(var how) ->
          new Wanted(
              "translated", Optional.empty(), Optional.of(how), "no exempt range contains it");
    };
  }

  private static Wanted anything(String why) {
    return new Wanted("anything", Optional.empty(), Optional.empty(), why);
  }

  /** The assumptions made for what was not given. */
  private static String assumed(ExplainRequest question, Optional<Policy> policy, Wanted wanted) {
    if (policy.isEmpty() || wanted.word.equals("anything")) {
      return "";
    }
    List<String> assumed = new ArrayList<>();
    if (question.from().isEmpty() && !policy.get().sources().isEmpty()) {
      assumed.add("from " + policy.get().sources().getFirst());
    }
    if (question.via().isEmpty() && !policy.get().interfaces().isEmpty()) {
      assumed.add("out of " + policy.get().interfaces().getFirst());
    }
    return assumed.isEmpty() ? "" : "; for packets " + String.join(", ", assumed);
  }

  /** Puts the result into words. */
  private record Words(
      ExplainRequest question,
      Optional<Policy> policy,
      Wanted wanted,
      List<String> interfaces,
      Hook hook) {

    private Explanation answer(
        String actual,
        Optional<String> translatedTo,
        Optional<DecidedBy> decidedBy,
        boolean pinned,
        String why) {
      return new Explanation(
          question.to(),
          question.from(),
          wanted.word,
          Optional.of(actual),
          translatedTo,
          decidedBy,
          wanted.range,
          pinned,
          why + given(),
          Optional.empty());
    }

    Explanation local(Optional<Decision> redirected) {
      if (redirected.filter(Decision::certain).isPresent()) {
        return service(redirected.get());
      }
      String unless = redirected.isPresent() ? "; unless a service of the node takes its port" : "";
      return answer("kept", Optional.empty(), Optional.empty(), false, wanted.why + unless);
    }

    Explanation service(Decision by) {
      return answer(
          "unknown",
          Optional.empty(),
          Optional.empty(),
          false,
          "its destination "
              + (by.certain() ? "is" : "may be")
              + " changed before, by a rule of "
              + by.owner().title()
              + " ("
              + by.place()
              + "): what happens then depends on the new destination, so ask for that");
    }

    Explanation actual(Actual actual, List<Decision> decisions) {
      return switch (actual) {
        case Actual.Translated(var by) ->
            by.size() == 1 ? translated(by.getFirst()) : translated(by);
        case Actual.Kept(var by) -> by.isPresent() ? bound(by.get()) : kept(decisions);
        case Actual.Dropped(var by) ->
            answer(
                "dropped",
                Optional.empty(),
                Optional.of(by(by)),
                false,
                "a rule of " + by.owner().title() + " drops it");
        case Actual.UnknownActual(var perhaps) ->
            answer("unknown", Optional.empty(), Optional.empty(), false, unknown(perhaps));
      };
    }

    private Explanation translated(Decision by) {
      boolean ours = by.kind() == Decision.DecisionKind.OURS;
      String why =
          ours
              ? wanted.why
              : "a rule of "
                  + by.owner().title()
                  + " translates it"
                  + (wanted.word.equals("kept") ? " although " + wanted.why : "");
      return answer("translated", to(by), Optional.of(by(by)), false, why);
    }

    private Explanation translated(List<Decision> by) {
      return answer(
          "translated",
          Optional.empty(),
          Optional.empty(),
          false,
          "several rules would translate it; which of them does "
              + unknown(by).replaceFirst("it depends", "depends"));
    }

    private Optional<String> to(Decision by) {
      Optional<ipmasq.net.IpRange> range =
          by.kind() == Decision.DecisionKind.OURS
              ? wanted.how.flatMap(Translation::addresses)
              : by.rule().action() instanceof ipmasq.hook.Action.Translate(var _, var to)
                  ? to
                  : Optional.empty();
      boolean masquerade =
          by.kind() == Decision.DecisionKind.OURS
              || by.rule().action() instanceof ipmasq.hook.Action.Translate(var how, var _)
                  && how.equalsIgnoreCase("masquerade");
      if (range.isPresent()) {
        return range.map(Object::toString);
      }
      return masquerade && interfaces.size() == 1
          ? RouteLookup.onlyAddress(interfaces.getFirst(), question.to().family()).map(Ip::toString)
          : Optional.empty();
    }

    private Explanation bound(Decision by) {
      boolean ours = by.kind() == Decision.DecisionKind.PINNED;
      return answer(
          "kept",
          Optional.empty(),
          Optional.of(by(by)),
          ours,
          ours
              ? wanted.why + PINNED
              : "a rule of " + by.owner().title() + " binds it to the source that it has");
    }

    private Explanation kept(List<Decision> decisions) {
      if (!wanted.word.equals("translated")) {
        Optional<DecidedBy> ours =
            wanted.range.map(range -> new DecidedBy(range + " is exempt", "ip-masq-agent"));
        return answer(
            "kept",
            Optional.empty(),
            hook.holdsOurs() ? ours : Optional.empty(),
            false,
            wanted.why);
      }
      Optional<Decision> shield =
          decisions.stream().filter(d -> d.kind() == Decision.DecisionKind.SHIELDED).findFirst();
      return answer(
          "kept",
          Optional.empty(),
          shield.map(this::by),
          false,
          shield.isPresent()
              ? "a rule of " + shield.get().owner().title() + " ends the chain before our rules"
              : "no rule at the nat postrouting hook translates it, although " + wanted.why);
    }

    private DecidedBy by(Decision decision) {
      String place =
          switch (decision.kind()) {
            case OURS ->
                decision.base().name()
                    + ": "
                    + wanted.how.map(Translation::toString).orElse("masquerade");
            case PINNED -> decision.base().name() + ": " + wanted.why;
            case TRANSLATED, KEPT, SHIELDED, DROPPED, REDIRECTED, UNCLEAR -> decision.place();
          };
      return new DecidedBy(place, decision.owner().title());
    }

    private String unknown(List<Decision> perhaps) {
      StringBuilder text = new StringBuilder("it depends on ");
      for (int i = 0; i < Math.min(RULES_NAMED, perhaps.size()); i++) {
        Decision decision = perhaps.get(i);
        text.append(i == 0 ? "" : "; on ")
            .append("a rule of ")
            .append(decision.owner().title())
            .append(" for ")
            .append(decision.packets())
            .append(": ")
            .append(by(decision).rule());
      }
      int more = perhaps.size() - RULES_NAMED;
      return more > 0
          ? text.append("; and on ").append(more).append(" more").toString()
          : text + "";
    }

    /** The assumptions behind the answer. */
    private String given() {
      StringBuilder text = new StringBuilder();
      if (question.via().isEmpty()
          && !interfaces.isEmpty()
          && policy.filter(p -> !p.interfaces().isEmpty()).isPresent()) {
        text.append("; it leaves by ").append(String.join(" or ", interfaces));
      }
      if (question.from().isEmpty() && policy.filter(p -> !p.sources().isEmpty()).isPresent()) {
        text.append("; for packets from sourceCIDRs");
      }
      if (hook.asksForMarks()) {
        text.append("; if no rule marked it before");
      }
      return text.toString();
    }
  }

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
