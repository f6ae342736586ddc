package ipmasq.plan;

import ipmasq.net.Cidr;
import ipmasq.plan.Change.Kind;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import ipmasq.policy.Translation;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * How to get from what is observed to what is desired, for one family. No changes: write nothing.
 *
 * @param desired the policy to put in force; empty: remove all that is ours
 */
public record Plan(Optional<Policy> desired, Observed observed, List<Change> changes) {
  public Plan {
    changes = List.copyOf(changes);
  }

  public boolean isEmpty() {
    return changes.isEmpty();
  }

  /** What to do so that {@code desired} is in force. */
  public static Plan toward(Policy desired, Observed observed) {
    List<Change> changes = new ArrayList<>();
    observed.flaws().forEach(flaw -> changes.add(new Change(Kind.REPAIR, flaw)));
    Optional<Policy> current = observed.policy();
    if (current.isEmpty()) {
      all(desired).forEach(what -> changes.add(new Change(Kind.ADD, what)));
    } else {
      difference(current.get(), desired, changes);
    }
    return new Plan(Optional.of(desired), observed, changes);
  }

  /** What to do so that nothing of ours is left. */
  public static Plan removal(Observed observed) {
    if (observed.absent()) {
      return new Plan(Optional.empty(), observed, List.of());
    }
    List<Change> changes = new ArrayList<>();
    observed
        .policy()
        .ifPresent(p -> all(p).forEach(what -> changes.add(new Change(Kind.REMOVE, what))));
    observed.flaws().forEach(flaw -> changes.add(new Change(Kind.REMOVE, flaw)));
    if (changes.isEmpty()) {
      changes.add(new Change(Kind.REMOVE, "what is left of our rules"));
    }
    return new Plan(Optional.empty(), observed, changes);
  }

  private static void difference(Policy from, Policy to, List<Change> changes) {
    List<String> before = scope(from);
    List<String> after = scope(to);
    destinations(from.destinations(), to.destinations(), before, after);
    before.add(phrase(from.translation()));
    after.add(phrase(to.translation()));
    Set<String> had = new HashSet<>(before);
    Set<String> has = new HashSet<>(after);
    for (String what : before) {
      if (!has.contains(what)) {
        changes.add(new Change(Kind.REMOVE, what));
      }
    }
    for (String what : after) {
      if (!had.contains(what)) {
        changes.add(new Change(Kind.ADD, what));
      }
    }
    if (had.equals(has) && !from.equals(to)) {
      changes.add(new Change(Kind.REPAIR, "the order of the rules"));
    }
  }

  /**
   * Phrases for what is between the first and the last destination that differ: of a hundred
   * thousand most stay as they are, and need no words.
   */
  private static void destinations(
      List<Destination> from, List<Destination> to, List<String> before, List<String> after) {
    int common = Math.min(from.size(), to.size());
    int start = 0;
    while (start < common && from.get(start).equals(to.get(start))) {
      start++;
    }
    int end = 0;
    while (end < common - start
        && from.get(from.size() - 1 - end).equals(to.get(to.size() - 1 - end))) {
      end++;
    }
    from.subList(start, from.size() - end).forEach(each -> before.add(phrase(each)));
    to.subList(start, to.size() - end).forEach(each -> after.add(phrase(each)));
  }

  /** Every part of a policy as a phrase: {@code 10.0.0.0/8}, {@code masquerade random-fully}. */
  private static List<String> all(Policy policy) {
    List<String> parts = scope(policy);
    policy.destinations().forEach(destination -> parts.add(phrase(destination)));
    parts.add(phrase(policy.translation()));
    return parts;
  }

  private static List<String> scope(Policy policy) {
    List<String> parts = new ArrayList<>();
    policy.sources().forEach(source -> parts.add("only from " + source));
    policy.interfaces().forEach(name -> parts.add("only out of " + name));
    if (policy.pinned()) {
      parts.add("pinned");
    }
    return parts;
  }

  private static String phrase(Destination destination) {
    Cidr range = destination.range();
    return destination.treatment() == Treatment.EXEMPT
        ? range.toString()
        : "masquerade to " + range;
  }

  private static String phrase(Translation translation) {
    String action = translation.addresses().map(a -> "snat to " + a).orElse("masquerade");
    String ports =
        translation.ports().isEmpty()
            ? ""
            : translation.ports().stream()
                .map(Object::toString)
                .collect(Collectors.joining(",", " ports ", ""));
    return action + ports + (translation.randomFully() ? " random-fully" : "");
  }
}
