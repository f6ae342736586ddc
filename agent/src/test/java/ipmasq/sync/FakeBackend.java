package ipmasq.sync;

import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.backend.Outcome;
import ipmasq.net.Family;
import ipmasq.plan.Observed;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A kernel of policies: holds what was applied, and fails on request. */
final class FakeBackend implements Backend {
  final Map<Family, Policy> kernel = new EnumMap<>(Family.class);
  final Set<Family> blind = ConcurrentHashMap.newKeySet();
  final Queue<Outcome> outcomes = new ArrayDeque<>();
  final List<Plan> applied = new ArrayList<>();

  /** At IPv4. */
  int looks;

  private final String name;

  FakeBackend(String name) {
    this.name = name;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Policy normalize(Policy policy, Observed observed) {
    return policy;
  }

  @Override
  public Observation observe(Family family) {
    looks += family == Family.IPV4 ? 1 : 0;
    return blind.contains(family)
        ? new Observation.Unseen(new Failure("cannot look at " + family, "wait"))
        : new Observation.Seen(new Held(family, Optional.ofNullable(kernel.get(family))));
  }

  @Override
  public Outcome apply(Plan plan) {
    applied.add(plan);
    Outcome outcome = outcomes.isEmpty() ? new Outcome.Applied() : outcomes.remove();
    if (outcome instanceof Outcome.Applied) {
      Family family = plan.observed().family();
      plan.desired().ifPresentOrElse(p -> kernel.put(family, p), () -> kernel.remove(family));
    }
    return outcome;
  }

  private record Held(Family family, Optional<Policy> policy) implements Observed {
    @Override
    public List<String> flaws() {
      return List.of();
    }

    @Override
    public boolean absent() {
      return policy.isEmpty();
    }
  }
}
