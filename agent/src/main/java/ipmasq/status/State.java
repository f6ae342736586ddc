package ipmasq.status;

import ipmasq.config.Config;
import ipmasq.config.Reading;
import ipmasq.hook.Conflict;
import ipmasq.loop.Pass.Basis;
import ipmasq.net.Family;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The state of the node: whether pods' packets go as the config says, and the sentence that an
 * on-call engineer reads first.
 *
 * @param ok whether they do, as far as is known
 */
public record State(StateLevel level, boolean ok, String sentence) {
  /** For people and scripts, at a glance. */
  public enum StateLevel {
    GOOD("good"),
    WARN("warn"),
    BAD("bad");

    private final String word;

    StateLevel(String word) {
      this.word = word;
    }

    @Override
    public String toString() {
      return word;
    }
  }

  /**
   * The worst thing first.
   *
   * @param lost families whose rules, as just read, are no longer those of the last pass
   * @param conflicts other programs' rules that override the config, or may
   */
  static State of(Status status, List<Family> lost, List<Conflict> conflicts) {
    return switch (status.identity().keeper()) {
      case Keeper.Running() -> kept(status, lost, conflicts, false);
      case Keeper.DryRun() -> kept(status, lost, conflicts, true);
      case Keeper.Silent(var pid, var why) -> silent(status, pid, why);
      case Keeper.OtherProgram(var pid) -> otherProgram(status, pid);
      case Keeper.Nobody() -> bad("No agent runs here. " + rules(status));
    };
  }

  /** Before other programs' rules were looked at: nothing is said about what packets do. */
  static State withoutOthers(Status status) {
    State state = of(status, List.of(), List.of());
    return state.level == StateLevel.GOOD
        ? new State(StateLevel.GOOD, true, inPlace(status) + ".")
        : state;
  }

  /** An agent runs, and says so itself or cannot be asked. */
  private static State kept(
      Status status, List<Family> lost, List<Conflict> conflicts, boolean dryRun) {
    if (!status.ready()) {
      return bad("Not ready: " + reasons(status));
    }
    if (status.last().pending()) {
      return warn(
          "Dry run: the rules are not what " + source(status) + " asks for; nothing is written.");
    }
    if (!lost.isEmpty() && !status.last().fighting()) {
      return bad(
          families(status.last().config())
              + " masquerading was set up as "
              + source(status)
              + " says, but the "
              + lost.stream().map(Family::toString).collect(Collectors.joining(" and "))
              + " rules in the kernel are no longer what it asks for.");
    }
    Optional<Conflict> serious = first(conflicts, true);
    if (serious.isPresent()) {
      return bad(inPlace(status) + ", but " + serious.get().sentence() + more(conflicts, true));
    }
    if (status.flows().wrongNow().isPresent()) {
      return bad(
          inPlace(status)
              + ", but live flows went against it: "
              + status.flows().wrongNow().get()
              + " ("
              + status.flows().wrong()
              + " of "
              + status.flows().flows()
              + " sampled).");
    }
    if (status.last().fighting()) {
      return warn(
          inPlace(status)
              + ", but another program has lately changed the rules again and again: each time they"
              + " were repaired, two seconds later at most.");
    }
    if (dryRun) {
      return warn(
          "Dry run: the rules are what "
              + source(status)
              + " asks for; this agent writes nothing.");
    }
    Optional<Conflict> unclear = first(conflicts, false);
    if (unclear.isPresent()) {
      return new State(
          StateLevel.WARN,
          true,
          inForce(status) + "; but " + unclear.get().sentence() + more(conflicts, false));
    }
    return new State(StateLevel.GOOD, true, inForce(status) + ".");
  }

  private static State silent(Status status, long pid, String why) {
    String agent =
        "The agent (process " + pid + ") does not answer (" + why + "), so perhaps nobody repairs ";
    return status.ready()
        ? warn(agent + "the rules; at the moment they are what " + source(status) + " asks for.")
        : bad(agent + "this: " + reasons(status));
  }

  private static State otherProgram(Status status, long pid) {
    String other = "Another ip-masq-agent runs here (process " + pid + "), not this one";
    return status.ready()
        ? warn(
            other
                + "; the rules are what "
                + source(status)
                + " asks for, and whether it leaves them that way is not known.")
        : bad(other + ", and nothing of ours repairs this: " + reasons(status));
  }

  private static State warn(String sentence) {
    return new State(StateLevel.WARN, false, sentence);
  }

  private static State bad(String sentence) {
    return new State(StateLevel.BAD, false, sentence);
  }

  private static Optional<Conflict> first(List<Conflict> conflicts, boolean serious) {
    return conflicts.stream()
        .filter(it -> serious ? it.kind().serious() : it.kind().unclear())
        .findFirst();
  }

  private static String more(List<Conflict> conflicts, boolean serious) {
    long count =
        conflicts.stream()
            .filter(it -> serious ? it.kind().serious() : it.kind().unclear())
            .count();
    return count > 1 ? " (and " + (count - 1) + " more)." : ".";
  }

  private static String reasons(Status status) {
    return String.join("; ", status.reasons()) + ".";
  }

  private static String rules(Status status) {
    return status.ready()
        ? "The rules are what " + source(status) + " asks for, but nothing keeps them that way."
        : "Nothing repairs this: " + reasons(status);
  }

  private static String inForce(Status status) {
    return families(status.last().config())
        + " masquerading is in force, as "
        + source(status)
        + " says";
  }

  private static String inPlace(Status status) {
    return families(status.last().config())
        + " masquerading is set up as "
        + source(status)
        + " says";
  }

  private static String families(Config config) {
    return config.enableIpv6() ? "IPv4 and IPv6" : "IPv4";
  }

  private static String source(Status status) {
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
