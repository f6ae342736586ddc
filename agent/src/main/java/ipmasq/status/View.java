package ipmasq.status;

import ipmasq.backend.Observation;
import ipmasq.hook.Conflict;
import ipmasq.loop.Pass;
import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import ipmasq.plan.Counter;
import ipmasq.plan.Tally;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.status.CounterSampler.Sample;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The agent's status together with the current state of the kernel. */
public record View(Status status, Sample sample, Instant now) {
  /** The policy in the kernel; if that cannot be read, the desired one. */
  Policy policy(Family family) {
    return seen(family)
        .flatMap(seen -> seen.observed().policy())
        .orElseGet(() -> status.last().policy(family));
  }

  private Optional<Observation.Seen> seen(Family family) {
    return sample.families().get(family) instanceof Observation.Seen seen
        ? Optional.of(seen)
        : Optional.empty();
  }

  /** What happens to a packet. */
  Explanation explain(ExplainRequest question) {
    Family family = question.to().family();
    Optional<Policy> policy =
        status.families().containsKey(family) ? Optional.of(policy(family)) : Optional.empty();
    Explanation answer =
        Optional.ofNullable(sample.hooks().get(family))
            .map(
                looked ->
                    Explainer.byRules(
                        question,
                        policy,
                        looked.hook(),
                        sample.services().at(question.to(), question.ofNode()),
                        looked.links()))
            .orElseGet(() -> Explainer.byPolicy(question, policy));
    return answer.wanted().equals("anything")
        ? answer
        : answer.with(status.flows().toward(question.to(), answer.wanted().equals("kept"), now));
  }

  /** Other programs' rules that override the config. */
  public List<Conflict> conflicts() {
    List<Conflict> conflicts = new ArrayList<>();
    for (Family family : status.enabled()) {
      HookSample looked = sample.hooks().get(family);
      if (looked != null) {
        conflicts.addAll(looked.conflicts());
      }
    }
    return conflicts;
  }

  /** The state of the node. */
  public State state() {
    return State.of(status, lost(), conflicts());
  }

  /**
   * Families whose rules, as just read, are no longer those of the last pass. Backends hold a
   * policy in different forms, so what is compared is what every form of it has: the exempt ranges.
   */
  private List<Family> lost() {
    Pass last = status.last();
    // A CNI config may hold more, or need nothing; and what a later pass did, a reading cannot
    // know.
    if (last.backend().equals("cni") || sample.at().isBefore(last.at())) {
      return List.of();
    }
    return status.enabled().stream()
        .filter(family -> seen(family).filter(it -> !holds(it, last, family)).isPresent())
        .toList();
  }

  private static boolean holds(Observation.Seen seen, Pass last, Family family) {
    Cidrs wanted = last.policy(family).exempt();
    return seen.observed().flaws().isEmpty()
        && seen.observed().policy().filter(it -> it.exempt().equals(wanted)).isPresent();
  }

  Optional<Tally> tally(Family family) {
    return seen(family).flatMap(seen -> seen.observed().tally());
  }

  /** At most the given number of ranges, those with the most flows, in matching order. */
  List<Destination> busiest(Family family, int most) {
    List<Destination> all = policy(family).destinations();
    if (all.size() <= most) {
      return all;
    }
    Map<Cidr, Counter> seen = tally(family).map(Tally::ranges).orElse(Map.of());
    long[] flows =
        all.stream().mapToLong(d -> seen.getOrDefault(d.range(), Counter.NONE).packets()).toArray();
    long[] sorted = flows.clone();
    Arrays.sort(sorted);
    long least = sorted[sorted.length - most];
    long ties = most - Arrays.stream(flows).filter(count -> count > least).count();
    List<Destination> busiest = new ArrayList<>(most);
    for (int i = 0; i < flows.length; i++) {
      if (flows[i] > least || flows[i] == least && ties-- > 0) {
        busiest.add(all.get(i));
      }
    }
    return busiest;
  }

  Optional<Counter> counter(Family family, Cidr range) {
    return tally(family).map(tally -> tally.ranges().get(range));
  }
}
