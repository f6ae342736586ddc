package ipmasq.status;

import ipmasq.config.FileSnapshot;
import ipmasq.config.Reading;
import ipmasq.evidence.flows.FlowEvidence;
import ipmasq.evidence.neighbours.Conflict;
import ipmasq.net.Family;
import ipmasq.sync.SyncReport;
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
  private static final String DEFAULT = "the built-in default";

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

  static Headline of(Status status) {
    Headline rules = rules(status);
    boolean good = rules.level == Level.GOOD;
    return switch (status.identity().agent()) {
      case Status.Agent.Running() -> rules;
      case Status.Agent.DryRun() ->
          rules.under(Level.WARN, "Dry run: ", good ? "; this agent writes nothing" : "");
      case Status.Agent.Unresponsive(var pid, var why) ->
          rules.under(
              Level.WARN,
              "The agent (process %d) does not answer (%s), so perhaps nothing repairs the rules. "
                  .formatted(pid, why),
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

  /** The worst thing first. */
  private static Headline rules(Status status) {
    SyncReport last = status.last();
    boolean runs = status.identity().agent() instanceof Status.Agent.Running;
    String source = source(status);
    String asked = "the rules are what " + source + " asks for";
    String masquerading =
        (last.config().enableIpv6() ? "IPv4 and IPv6" : "IPv4") + " masquerading is ";
    if (!status.ready()) {
      return bad((runs ? "Not ready: " : "") + String.join("; ", status.reasons()));
    }
    if (status.waiting().isPresent()) {
      return warn(false, "N" + status.waiting().get().toString().substring(1));
    }
    if (last.pending()) {
      return warn(false, "the rules are not what " + source + " asks for");
    }
    String setUp = runs ? masquerading + "set up as " + source + " says" : asked;
    List<Family> lost = status.enabled().stream().filter(status::isLost).toList();
    if (!lost.isEmpty() && !last.fighting()) {
      return bad(
          setUp.replace(" is set up", " was set up")
              + lost.stream()
                  .map(Family::toString)
                  .collect(Collectors.joining(" and ", ", but the ", " rules in the kernel"))
              + " are no longer what it asks for");
    }
    Optional<String> against = against(status);
    if (against.isPresent()) {
      return bad(setUp + ", but " + against.get());
    }
    if (last.fighting()) {
      return warn(
          false,
          setUp
              + ", but another program keeps changing the rules; they are repaired, at most two"
              + " seconds later");
    }
    boolean known = status.sample().conflicts().isPresent();
    Reading.Gap gap = last.effective().gap();
    if (!gap.isNone()) {
      String rules = runs ? masquerading + (known ? "in force" : "set up") : asked;
      return warn(true, rules + ", but " + gap.phrase());
    }
    String inForce = runs && known ? masquerading + "in force, as " + source + " says" : setUp;
    return first(status, it -> it.kind().unclear())
        .map(unclear -> warn(true, inForce + "; but " + unclear))
        .orElse(new Headline(Level.GOOD, true, inForce + "."));
  }

  private static Headline bad(String sentence) {
    return new Headline(Level.BAD, false, sentence + ".");
  }

  private static Headline warn(boolean ok, String sentence) {
    return new Headline(Level.WARN, ok, sentence + ".");
  }

  /** What makes packets go otherwise than the rules say, or keeps them from being answered. */
  private static Optional<String> against(Status status) {
    FlowEvidence flows = status.flows();
    return first(status, it -> it.kind().serious())
        .or(
            () ->
                flows
                    .wrongNow()
                    .map(
                        example ->
                            "live flows went against it: %s (%d of %d sampled)"
                                .formatted(example, flows.wrong(), flows.flows())))
        .or(() -> flows.change().silent().stream().map(Object::toString).findFirst());
  }

  private static Optional<String> first(Status status, Predicate<Conflict> which) {
    List<Conflict> found = status.conflicts().stream().filter(which).toList();
    String more = found.size() > 1 ? " (and " + (found.size() - 1) + " more)" : "";
    return found.stream().findFirst().map(conflict -> conflict.sentence() + more);
  }

  /** What the rules go by, for people. */
  static String source(Status status) {
    List<FileSnapshot> found =
        status.last().sources().stream().filter(source -> source.hash().isPresent()).toList();
    return switch (status.last().basis()) {
      case FALLBACK -> DEFAULT;
      case LAST_GOOD -> "the last good config";
      case ROLLED_BACK -> "the config before it";
      case FILE ->
          found.isEmpty()
              ? DEFAULT
              : found.size() > 1
                  ? "the config in " + found.size() + " files"
                  : found.getFirst().path().toString();
    };
  }
}
