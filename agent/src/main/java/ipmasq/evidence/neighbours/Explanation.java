package ipmasq.evidence.neighbours;

import ipmasq.net.Cidr;
import ipmasq.net.Ip;
import ipmasq.policy.Packet;
import ipmasq.policy.Policy;
import ipmasq.policy.Translation;
import ipmasq.policy.Verdict;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What happens to a packet, and why.
 *
 * @param desired what the config asks for
 * @param outcome what all rules together do; empty if the kernel was not asked
 * @param why for people, with what the answer assumes
 * @param flows what sampled flows to the same range showed; empty if no agent was asked
 */
public record Explanation(
    Ip to,
    Optional<Ip> from,
    Wish desired,
    Optional<Outcome> outcome,
    String why,
    Optional<String> flows) {

  /**
   * What the config asks for.
   *
   * @param range the range of the config that holds the destination
   * @param how how the packet is to be translated, if it is
   * @param pinned whether it is to be bound to its own source
   */
  public record Wish(
      Kind kind, Optional<Cidr> range, Optional<Translation> how, boolean pinned, String why) {
    private static final String PINNED = ", and pinned: no later chain masquerades it";

    /** In one word, which scripts may test for. */
    public enum Kind {
      KEPT("keep"),
      TRANSLATED("masquerade"),
      /** The config does not cover such packets. */
      ANYTHING("-");

      private final String verb;

      Kind(String verb) {
        this.verb = verb;
      }

      /** For a table. */
      public String verb() {
        return verb;
      }

      @Override
      public String toString() {
        return name().toLowerCase(Locale.ROOT);
      }
    }

    /**
     * By the policy; what the question leaves open is taken to be within the policy's scope.
     *
     * @param policy empty: the agent has no rules there
     * @param interfaces those that it may leave by; none: unknown
     */
    static Wish of(Question question, Optional<Policy> policy, List<String> interfaces) {
      if (policy.isEmpty()) {
        return anything("this agent has no rules for " + question.family());
      }
      List<String> ways =
          interfaces.isEmpty() ? policy.get().interfaces().stream().limit(1).toList() : interfaces;
      if (ways.isEmpty()) {
        return of(question, policy.get(), null);
      }
      List<Wish> each =
          ways.stream().map(way -> of(question, policy.get(), way)).distinct().toList();
      return each.size() == 1
          ? each.getFirst()
          : anything("it depends on the interface that it leaves by: " + String.join(" or ", ways));
    }

    private static Wish of(Question question, Policy policy, @Nullable String way) {
      Optional<Ip> source =
          question.from().or(() -> policy.sources().stream().findFirst().map(Cidr::first));
      boolean local = RouteLookup.isLocal(question.to());
      return switch (policy.verdictFor(
          new Packet(source.orElse(null), question.to(), local, way))) {
        case Verdict.LocalDestination() -> anything("it is an address of this node");
        case Verdict.OtherSource() -> anything("its source is in none of sourceCIDRs");
        case Verdict.OtherInterface() -> anything("it leaves by none of outputInterface's names");
        case Verdict.Exempt(var range) ->
            new Wish(
                Kind.KEPT,
                Optional.of(range),
                Optional.empty(),
                policy.pinned(),
                range + " is not masqueraded" + (policy.pinned() ? PINNED : ""));
        case Verdict.Exception(var range, var how) ->
            new Wish(
                Kind.TRANSLATED,
                Optional.of(range),
                Optional.of(how),
                false,
                range + " is masqueraded, as an exception");
        case Verdict.Outbound(var how) ->
            new Wish(
                Kind.TRANSLATED,
                Optional.empty(),
                Optional.of(how),
                false,
                "no exempt range contains it");
      };
    }

    private static Wish anything(String why) {
      return new Wish(Kind.ANYTHING, Optional.empty(), Optional.empty(), false, why);
    }
  }

  /** Its word is for scripts, its phrase for people. */
  public enum Effect {
    KEPT("kept", "keeps its source"),
    /** Our rules bind it to its own source. */
    PINNED("kept", "keeps its source, pinned"),
    TRANSLATED("translated", "translated"),
    DROPPED("dropped", "dropped"),
    /** What happens depends on the new destination. */
    REDIRECTED("unknown", "gets another destination"),
    /** Rules that are not judged, or what the question leaves open, decide. */
    MAY("unknown", "may be either");

    private final String word;
    private final String phrase;

    Effect(String word, String phrase) {
      this.word = word;
      this.phrase = phrase;
    }
  }

  /**
   * What happens.
   *
   * @param by the rule that decides, if there is one; of several, none is named
   * @param source the addresses that a translated packet may get, if known
   */
  public record Outcome(Effect effect, Optional<DecidedBy> by, Optional<String> source) {
    /** One word that scripts may test for. */
    public String word() {
      return effect.word;
    }

    /** For a table. */
    public String phrase() {
      return effect.phrase + source.map(it -> " to " + it).orElse("");
    }
  }

  /**
   * A rule.
   *
   * @param rule its chain and its text
   */
  public record DecidedBy(String rule, Owner owner) {}

  /** The same with what sampled flows showed. */
  public Explanation with(String sampled) {
    return new Explanation(to, from, desired, outcome, why, Optional.of(sampled));
  }

  /** What follows {@code A packet to X}. */
  public String sentence() {
    if (outcome.isEmpty()) {
      return switch (desired.kind) {
        case KEPT -> "keeps its source address";
        case TRANSLATED -> "gets another source address";
        case ANYTHING -> "is left alone";
      };
    }
    return switch (outcome.get().effect) {
      case KEPT, PINNED -> "keeps its source address";
      case TRANSLATED ->
          "gets another source address" + outcome.get().source.map(it -> ", " + it).orElse("");
      case DROPPED -> "is dropped";
      case REDIRECTED, MAY -> "may keep its source address or not";
    };
  }

  /** What to do about it; empty if nothing. */
  public Optional<String> advice() {
    if (outcome.isEmpty() || desired.kind == Wish.Kind.ANYTHING) {
      return Optional.empty();
    }
    return switch (outcome.get().effect) {
      case REDIRECTED -> Optional.of("ask for the new destination");
      case MAY -> Optional.of("see what happens to real packets: ip-masq-agent trace " + to);
      case KEPT, PINNED, TRANSLATED, DROPPED ->
          outcome.get().word().equals(desired.kind.toString())
              ? Optional.empty()
              : outcome.get().by.map(by -> by.owner.advice()).filter(it -> !it.isEmpty());
    };
  }

  /** For scripts. */
  public Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("to", to);
    fields.put("from", from.orElse(null));
    fields.put("wanted", desired.kind.toString());
    fields.put("actual", outcome.map(Outcome::word).orElse(null));
    fields.put("translatedTo", outcome.flatMap(Outcome::source).orElse(null));
    fields.put("decidedBy", outcome.flatMap(Outcome::by).map(Explanation::fields).orElse(null));
    fields.put("why", why);
    fields.put("range", desired.range.orElse(null));
    fields.put("pinned", outcome.map(it -> it.effect == Effect.PINNED).orElse(desired.pinned));
    fields.put("sentence", sentence());
    fields.put("flows", flows.orElse(null));
    return fields;
  }

  private static Map<String, Object> fields(DecidedBy by) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("rule", by.rule);
    fields.put("owner", by.owner.title());
    return fields;
  }
}
