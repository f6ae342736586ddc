package ipmasq.status;

import ipmasq.config.Reading;
import ipmasq.evidence.flows.AnswerChange;
import ipmasq.evidence.neighbours.Conflict;
import ipmasq.net.Family;
import ipmasq.sync.SyncReport;
import ipmasq.sync.SyncReport.Basis;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The sentence that an on-call engineer reads first: whether pods' packets go as the config says.
 *
 * @param ok whether they do, as far as is known
 */
public record Headline(Level level, boolean ok, String sentence) {
  /** For people and scripts, at a glance. */
  public enum Level {
    GOOD,
    WARN,
    BAD;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * The worst thing first.
   *
   * @param lost families whose rules, as just read, are no longer those of the last sync
   * @param conflicts other programs' rules that override the config, or may; empty if not known
   */
  static Headline of(Status status, List<Family> lost, Optional<List<Conflict>> conflicts) {
    Headline rules = rules(status, lost, conflicts);
    boolean good = rules.level == Level.GOOD;
    return switch (status.identity().agent()) {
      case Status.Agent.Running() -> rules;
      case Status.Agent.DryRun() ->
          rules.under(Level.WARN, "Dry run: ", good ? "; this agent writes nothing" : "");
      case Status.Agent.Unresponsive(var pid, var why) ->
          rules.under(
              Level.WARN,
              "The agent (process "
                  + pid
                  + ") does not answer ("
                  + why
                  + "), so perhaps nothing repairs the rules. ",
              "");
      case Status.Agent.Foreign(var pid) ->
          rules.under(
              Level.WARN,
              "Another ip-masq-agent runs here (process " + pid + "), not this one. ",
              good ? "; whether it leaves them that way is not known" : "");
      case Status.Agent.None() ->
          rules.under(
              Level.BAD,
              "No agent runs here. ",
              good ? ", but nothing keeps them that way" : ", and nothing repairs that");
    };
  }

  /** The same where somebody else than a running agent is responsible. */
  private Headline under(Level least, String before, String after) {
    String body = sentence.substring(0, sentence.length() - 1);
    String first =
        before.endsWith(": ") ? body : Character.toUpperCase(body.charAt(0)) + body.substring(1);
    return new Headline(
        level.compareTo(least) > 0 ? level : least, false, before + first + after + ".");
  }

  private static Headline rules(
      Status status, List<Family> lost, Optional<List<Conflict>> conflicts) {
    SyncReport last = status.last();
    boolean runs = status.identity().agent() instanceof Status.Agent.Running;
    if (!status.ready()) {
      return bad((runs ? "Not ready: " : "") + String.join("; ", status.reasons()));
    }
    if (status.waiting().isPresent()) {
      String unknown = status.waiting().get().toString();
      return new Headline(Level.WARN, false, "N" + unknown.substring(1) + ".");
    }
    if (last.pending()) {
      return new Headline(
          Level.WARN, false, "the rules are not what " + source(status) + " asks for.");
    }
    String setUp =
        runs ? masquerading(status) + " is set up as " + source(status) + " says" : as(status);
    if (!lost.isEmpty() && !last.fighting()) {
      String families = lost.stream().map(Family::toString).collect(Collectors.joining(" and "));
      return bad(
          setUp.replace(" is set up", " was set up")
              + ", but the "
              + families
              + " rules in the kernel are no longer what it asks for");
    }
    List<Conflict> known = conflicts.orElse(List.of());
    Optional<String> serious = first(known, it -> it.kind().serious());
    if (serious.isPresent()) {
      return bad(setUp + ", but " + serious.get());
    }
    if (status.flows().wrongNow().isPresent()) {
      return bad(
          "%s, but live flows went against it: %s (%d of %d sampled)"
              .formatted(
                  setUp,
                  status.flows().wrongNow().get(),
                  status.flows().wrong(),
                  status.flows().flows()));
    }
    List<AnswerChange.Range> silent = status.flows().change().silent();
    if (!silent.isEmpty()) {
      return bad(setUp + ", but " + silent.getFirst());
    }
    if (last.fighting()) {
      return new Headline(
          Level.WARN,
          false,
          setUp
              + ", but another program keeps changing the rules; they are repaired, at most two"
              + " seconds later.");
    }
    String inForce =
        runs ? masquerading(status) + " is in force, as " + source(status) + " says" : as(status);
    Reading.Gap gap = last.effective().gap();
    if (!gap.isNone()) {
      String rules =
          !runs
              ? as(status)
              : masquerading(status) + (conflicts.isPresent() ? " is in force" : " is set up");
      return new Headline(Level.WARN, true, rules + ", but " + gap.phrase() + ".");
    }
    Optional<String> unclear = first(known, it -> it.kind().unclear());
    if (unclear.isPresent()) {
      return new Headline(Level.WARN, true, inForce + "; but " + unclear.get() + ".");
    }
    return new Headline(Level.GOOD, true, (conflicts.isPresent() ? inForce : setUp) + ".");
  }

  private static Headline bad(String sentence) {
    return new Headline(Level.BAD, false, sentence + ".");
  }

  private static Optional<String> first(List<Conflict> conflicts, Predicate<Conflict> which) {
    List<Conflict> found = conflicts.stream().filter(which).toList();
    return found.isEmpty()
        ? Optional.empty()
        : Optional.of(
            found.getFirst().sentence()
                + (found.size() > 1 ? " (and " + (found.size() - 1) + " more)" : ""));
  }

  private static String masquerading(Status status) {
    return (status.last().config().enableIpv6() ? "IPv4 and IPv6" : "IPv4") + " masquerading";
  }

  private static String as(Status status) {
    return "the rules are what " + source(status) + " asks for";
  }

  /** What the rules go by, for people. */
  static String source(Status status) {
    List<Reading.SourceFile> found =
        status.last().sources().stream().filter(source -> source.hash().isPresent()).toList();
    if (found.isEmpty() || status.last().basis() != Basis.FILE) {
      return "the built-in default";
    }
    return found.size() > 1
        ? "the config in " + found.size() + " files"
        : found.getFirst().path().toString();
  }
}
