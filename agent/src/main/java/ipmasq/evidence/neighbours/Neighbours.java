package ipmasq.evidence.neighbours;

import ipmasq.evidence.neighbours.Explanation.Wish;
import ipmasq.evidence.neighbours.HooksReader.Services;
import ipmasq.evidence.neighbours.Rule.Hooks;
import ipmasq.net.Family;
import ipmasq.policy.Policy;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What other programs' rules do beside ours: which override the config, and what happens to one
 * packet. Used by one thread, in its network namespace.
 */
public final class Neighbours implements AutoCloseable {
  private final HooksReader reader = new HooksReader();
  private final Map<Family, Judged> judged = new EnumMap<>(Family.class);

  /** What was judged, and what came of it. */
  private record Judged(Hooks hooks, Policy desired, NodeLinks links, List<Conflict> conflicts) {
    boolean isOf(Hooks nowHooks, Policy nowDesired, NodeLinks nowLinks) {
      return hooks.equals(nowHooks) && desired.equals(nowDesired) && links.equals(nowLinks);
    }
  }

  /**
   * Where our rules are.
   *
   * @param backend the name of the backend that holds them
   * @param chain the name of our chain in iptables
   * @param policy as they are; empty: there are none, or they are not readable
   */
  public record Ours(String backend, String chain, Optional<Policy> policy) {}

  /**
   * The rules that override the config. They are read each time, and judged if they changed.
   *
   * @param desired what the config asks for
   */
  public List<Conflict> conflicts(Policy desired, Ours ours, NodeLinks links) {
    Hooks hooks = reader.read(desired.family(), ours, Services.LEFT_OUT, new Links(links.names()));
    Judged before = judged.get(desired.family());
    if (before == null || !before.isOf(hooks, desired, links)) {
      before = new Judged(hooks, desired, links, Conflicts.in(hooks, desired, links));
      judged.put(desired.family(), before);
    }
    return before.conflicts;
  }

  /** Whether a rule asks an ipset, whose content changes without a trace in the rules. */
  public boolean asksIpsets() {
    return judged.values().stream().anyMatch(it -> it.hooks.asksIpsets());
  }

  /** By the config alone. */
  public static Explanation byConfig(Question question, Optional<Policy> desired) {
    Wish wish = Wish.of(question, desired, question.via().stream().toList());
    List<String> reasons = new ArrayList<>(List.of(wish.why()));
    if (desired.isPresent() && wish.kind() != Wish.Kind.ANYTHING) {
      if (question.from().isEmpty() && !desired.get().sources().isEmpty()) {
        reasons.add("for packets from " + desired.get().sources().getFirst());
      }
      if (question.via().isEmpty() && !desired.get().interfaces().isEmpty()) {
        reasons.add("out of " + desired.get().interfaces().getFirst());
      }
    }
    return new Explanation(
        question.to(),
        question.from(),
        wish,
        Optional.empty(),
        String.join("; ", reasons),
        Optional.empty());
  }

  /** By all rules. */
  public Explanation explain(
      Question question, Optional<Policy> desired, Ours ours, NodeLinks links) {
    List<String> names = new ArrayList<>(links.names());
    question.via().ifPresent(names::add);
    Hooks hooks = reader.read(question.family(), ours, Services.FOLLOWED, new Links(names));
    return new Explainer(question, desired, hooks, links).explain();
  }

  @Override
  public void close() {
    reader.close();
  }
}
