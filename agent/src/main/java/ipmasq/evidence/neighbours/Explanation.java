package ipmasq.evidence.neighbours;

import ipmasq.net.Cidr;
import ipmasq.net.Ip;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What happens to a packet, and why.
 *
 * @param desired what the config asks for
 * @param outcome what all rules together do; empty if the kernel was not asked
 * @param why for people
 * @param given what the answer assumes, for people
 * @param flows what sampled flows to the same range showed; empty if no agent was asked
 */
public record Explanation(
    Ip to,
    Optional<Ip> from,
    Wish desired,
    Optional<Outcome> outcome,
    String why,
    List<String> given,
    Optional<String> flows) {
  public Explanation {
    given = List.copyOf(given);
  }

  /**
   * What the config asks for.
   *
   * @param range the range of the config that holds the destination
   * @param pinned whether it asks to bind the packet to its own source
   */
  public record Wish(Kind kind, Optional<Cidr> range, boolean pinned, String why) {
    /** In one word, which scripts may test for. */
    public enum Kind {
      KEPT("kept"),
      TRANSLATED("translated"),
      /** The config does not cover such packets. */
      ANYTHING("anything");

      private final String word;

      Kind(String word) {
        this.word = word;
      }

      @Override
      public String toString() {
        return word;
      }
    }
  }

  /** What happens. */
  public sealed interface Outcome {
    /**
     * It leaves with its own source.
     *
     * @param pinned whether our rules bind it to that
     */
    record Kept(Optional<DecidedBy> by, boolean pinned) implements Outcome {}

    /**
     * It leaves with another source.
     *
     * @param to the addresses that it may get, if known
     */
    record Translated(Optional<DecidedBy> by, Optional<String> to) implements Outcome {}

    record Dropped(DecidedBy by) implements Outcome {}

    /** Its destination is, or may be, changed before: what happens then depends on the new one. */
    record Redirected(DecidedBy by) implements Outcome {}

    /** Rules that are not judged, or what the question leaves open, decide. */
    record May(List<DecidedBy> perhaps) implements Outcome {
      public May {
        perhaps = List.copyOf(perhaps);
      }
    }

    /** One word that scripts may test for. */
    default String word() {
      return switch (this) {
        case Kept _ -> "kept";
        case Translated _ -> "translated";
        case Dropped _ -> "dropped";
        case Redirected _, May _ -> "unknown";
      };
    }

    /** The rule that decides, if there is one. */
    default Optional<DecidedBy> decidedBy() {
      return switch (this) {
        case Kept(var by, var _) -> by;
        case Translated(var by, var _) -> by;
        case Dropped(var by) -> Optional.of(by);
        case Redirected _, May _ -> Optional.empty();
      };
    }
  }

  /**
   * A rule.
   *
   * @param rule its chain and its text
   * @param owner whose it is
   * @param advice what to do about it
   */
  public record DecidedBy(String rule, String owner, String advice) {}

  /** The same with what sampled flows showed. */
  public Explanation with(String sampled) {
    return new Explanation(to, from, desired, outcome, why, given, Optional.of(sampled));
  }

  /** Whether it happens as the config asks. */
  public boolean asDesired() {
    return switch (desired.kind) {
      case ANYTHING -> true;
      case KEPT -> outcome.map(it -> it instanceof Outcome.Kept).orElse(true);
      case TRANSLATED -> outcome.map(it -> it instanceof Outcome.Translated).orElse(true);
    };
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
    return switch (outcome.get()) {
      case Outcome.Kept _ -> "keeps its source address";
      case Outcome.Translated(var _, var source) ->
          "gets another source address" + source.map(it -> ", " + it).orElse("");
      case Outcome.Dropped _ -> "is dropped";
      case Outcome.Redirected _, Outcome.May _ -> "may keep its source address or not";
    };
  }

  /** What to do about it; empty if nothing. */
  public Optional<String> advice() {
    if (outcome.isEmpty() || desired.kind == Wish.Kind.ANYTHING) {
      return Optional.empty();
    }
    return switch (outcome.get()) {
      case Outcome.Redirected _ -> Optional.of("ask for the new destination");
      case Outcome.May _ ->
          Optional.of("see what happens to real packets: ip-masq-agent trace " + to);
      case Outcome.Kept it -> asDesired() ? Optional.empty() : it.by.map(DecidedBy::advice);
      case Outcome.Translated it -> asDesired() ? Optional.empty() : it.by.map(DecidedBy::advice);
      case Outcome.Dropped it -> Optional.of(it.by.advice);
    };
  }

  /** For scripts. */
  public Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("to", to);
    fields.put("from", from.orElse(null));
    fields.put("wanted", desired.kind.toString());
    fields.put("actual", outcome.map(Outcome::word).orElse(null));
    fields.put(
        "translatedTo",
        outcome.orElse(null) instanceof Outcome.Translated(var _, var source)
            ? source.orElse(null)
            : null);
    fields.put(
        "decidedBy", outcome.flatMap(Outcome::decidedBy).map(Explanation::fields).orElse(null));
    fields.put("why", reason());
    fields.put("range", desired.range.orElse(null));
    fields.put(
        "pinned",
        outcome.isEmpty()
            ? desired.pinned
            : outcome.get() instanceof Outcome.Kept(var _, var pinned) && pinned);
    fields.put("sentence", sentence());
    fields.put("flows", flows.orElse(null));
    return fields;
  }

  private static Map<String, Object> fields(DecidedBy by) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("rule", by.rule);
    fields.put("owner", by.owner);
    return fields;
  }

  /** Why, and what that assumes. */
  public String reason() {
    return given.isEmpty() ? why : why + "; " + String.join("; ", given);
  }
}
