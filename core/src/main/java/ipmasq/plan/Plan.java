package ipmasq.plan;

import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The changes that lead from observed to desired, for one family. Without changes nothing is
 * written.
 *
 * @param desired the policy to put in force; empty: remove all rules of the agent
 */
public record Plan(Optional<Policy> desired, Observed observed, List<Change> changes) {
  public Plan {
    changes = List.copyOf(changes);
  }

  public boolean isEmpty() {
    return changes.isEmpty();
  }

  /** A plan to put {@code desired} in force. */
  public static Plan toward(Policy desired, Observed observed) {
    List<Change> changes = new ArrayList<>();
    add(Change.Kind.REPAIR, observed.flaws(), changes);
    Optional<Policy> current = observed.ours();
    if (current.isEmpty()) {
      add(Change.Kind.ADD, parts(desired, desired.destinations()), changes);
    } else {
      difference(current.get(), desired, changes);
    }
    return new Plan(Optional.of(desired), observed, changes);
  }

  /** A plan to remove all rules of the agent. */
  public static Plan removal(Observed observed) {
    List<Change> changes = new ArrayList<>();
    if (!observed.absent()) {
      observed
          .ours()
          .ifPresent(
              policy -> add(Change.Kind.REMOVE, parts(policy, policy.destinations()), changes));
      add(Change.Kind.REMOVE, observed.leftovers(), changes);
      if (changes.isEmpty()) {
        changes.add(new Change(Change.Kind.REMOVE, "what is left of our rules"));
      }
    }
    return new Plan(Optional.empty(), observed, changes);
  }

  /** Compares only the destinations between the first and the last difference. */
  private static void difference(Policy before, Policy after, List<Change> changes) {
    int unchanged = changes.size();
    List<Destination> was = before.destinations();
    List<Destination> is = after.destinations();
    int start = same(was, is);
    was = was.subList(start, was.size());
    is = is.subList(start, is.size());
    int end = same(was.reversed(), is.reversed());
    List<Object> old = parts(before, was.subList(0, was.size() - end));
    List<Object> now = parts(after, is.subList(0, is.size() - end));
    add(Change.Kind.REMOVE, without(old, now), changes);
    add(Change.Kind.ADD, without(now, old), changes);
    if (changes.size() == unchanged && !old.equals(now)) {
      changes.add(new Change(Change.Kind.REPAIR, "the order of the rules"));
    }
  }

  /** The length of the common prefix of both lists. */
  private static int same(List<Destination> one, List<Destination> other) {
    int same = 0;
    while (same < Math.min(one.size(), other.size()) && one.get(same).equals(other.get(same))) {
      same++;
    }
    return same;
  }

  private static List<Object> without(List<Object> all, List<Object> these) {
    Set<Object> out = new HashSet<>(these);
    List<Object> rest = new ArrayList<>();
    for (Object each : all) {
      if (!out.contains(each)) {
        rest.add(each);
      }
    }
    return rest;
  }

  private static void add(Change.Kind kind, List<?> subjects, List<Change> changes) {
    for (Object subject : subjects) {
      changes.add(new Change(kind, subject));
    }
  }

  /** The parts of a policy; destinations are not converted, because there may be very many. */
  private static List<Object> parts(Policy policy, List<Destination> destinations) {
    List<Object> parts = new ArrayList<>(destinations.size() + 1);
    policy.sources().forEach(source -> parts.add("only from " + source));
    policy.interfaces().forEach(name -> parts.add("only out of " + name));
    if (policy.pinned()) {
      parts.add("pinned");
    }
    parts.addAll(destinations);
    parts.add(policy.translation());
    return parts;
  }
}
