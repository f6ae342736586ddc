package ipmasq.status;

import ipmasq.backend.Failure;
import ipmasq.config.Problem;
import ipmasq.flows.FlowEvidence;
import ipmasq.loop.Pass;
import ipmasq.loop.Pass.Basis;
import ipmasq.net.Family;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * What the agent knows of itself after a pass. A value: readers on any thread share it.
 *
 * @param last the latest pass
 * @param configSince when the config in force took effect
 * @param history newest last
 * @param flows what live flows showed
 */
public record Status(
    Identity identity,
    Pass last,
    Instant configSince,
    Map<Family, Standing> families,
    Totals totals,
    List<Event> history,
    FlowEvidence flows) {

  /**
   * The state of one family.
   *
   * @param since when that state began
   * @param backend whose rules these are, or whose failure it is
   * @param failure why the rules are not known to be in force; empty if they are
   * @param unread whether they could not even be read, so that they may be
   */
  public record Standing(
      Instant since, String backend, Optional<Failure> failure, boolean unread) {}

  public Status {
    families = Map.copyOf(families);
    history = List.copyOf(history);
  }

  /** Whether an agent built this over its life; otherwise a command looked once. */
  boolean hasPast() {
    return identity.started().isPresent();
  }

  /** The families that the agent looks after, in order. */
  List<Family> enabled() {
    List<Family> enabled = new ArrayList<>();
    for (Family family : Family.values()) {
      if (families.containsKey(family)) {
        enabled.add(family);
      }
    }
    return enabled;
  }

  /** The state of an enabled family. */
  Standing standing(Family family) {
    return Objects.requireNonNull(families.get(family));
  }

  Optional<Failure> failure(Family family) {
    return standing(family).failure;
  }

  /** Whether the file is good and the rules are in force, or nothing is to be written. */
  public boolean ready() {
    return last.ready();
  }

  /** Why it is not ready, each reason a sentence without its full stop. */
  public List<String> reasons() {
    List<String> reasons = new ArrayList<>();
    switch (last.basis()) {
      case FILE -> {}
      case LAST_GOOD -> reasons.add("the config file is bad, so the last good one stays in force");
      case FALLBACK ->
          reasons.add(
              hasPast()
                  ? "the config file is bad and was never good, so earlier rules or the defaults are"
                      + " in force"
                  : "the config file is bad");
    }
    for (Family family : enabled()) {
      failure(family)
          .ifPresent(
              failure ->
                  reasons.add(
                      standing(family).unread
                          ? "the " + family + " rules cannot be read: " + sentence(failure)
                          : "the " + family + " rules are not in force"));
    }
    return reasons;
  }

  /** What failed, without its full stop and without the advice, which the causes have. */
  private static String sentence(Failure failure) {
    String message = failure.message();
    return message.endsWith(".") ? message.substring(0, message.length() - 1) : message;
  }

  /** The causes behind the reasons: errors with their place, failures with their advice. */
  List<String> causes() {
    List<String> causes = new ArrayList<>();
    if (last.basis() != Basis.FILE) {
      for (Problem problem : last.problems()) {
        if (problem.severity() == Problem.Severity.ERROR) {
          causes.add(problem.toString());
        }
      }
    }
    for (Family family : enabled()) {
      failure(family).ifPresent(failure -> causes.add(failure.toString()));
    }
    return causes;
  }
}
