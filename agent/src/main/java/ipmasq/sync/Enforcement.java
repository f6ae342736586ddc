package ipmasq.sync;

import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.backend.Outcome;
import ipmasq.net.Family;
import ipmasq.plan.Observed;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import ipmasq.sync.SyncReport.Result;
import java.util.List;
import java.util.Optional;

/**
 * Observe, plan, apply, for one family and one backend.
 *
 * @param writes whether plans are carried out, or only made
 */
public record Enforcement(boolean writes) {
  /** How often to retry a commit that lost a race before waiting for the next sync. */
  private static final int ATTEMPTS = 5;

  /** Makes a plan of what was observed. */
  interface Planner {
    Plan plan(Observed observed);
  }

  /**
   * The result.
   *
   * @param plan the last one made; empty if the rules could not be read
   */
  record Enforced(Result result, Optional<Plan> plan) {
    List<String> remarks() {
      return plan.map(it -> it.observed().remarks()).orElse(List.of());
    }
  }

  Enforced enforce(Backend backend, Family family, Planner planner) {
    String races = "";
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      switch (backend.observe(family)) {
        case Observation.Unseen(var failure) -> {
          return new Enforced(new Result.Failed(failure, true), Optional.empty());
        }
        case Observation.Unusable(var failure) -> {
          return new Enforced(new Result.Failed(failure), Optional.empty());
        }
        case Observation.Seen(var observed) -> {
          Plan plan = planner.plan(observed);
          if (plan.isEmpty()) {
            return new Enforced(new Result.Unchanged(), Optional.of(plan));
          }
          if (!writes) {
            return new Enforced(new Result.Pending(plan.changes()), Optional.of(plan));
          }
          switch (backend.apply(plan)) {
            case Outcome.Applied() -> {
              return new Enforced(new Result.Changed(plan.changes()), Optional.of(plan));
            }
            case Outcome.Refused(var failure) -> {
              return new Enforced(new Result.Failed(failure), Optional.of(plan));
            }
            case Outcome.Retry(var why) -> races = why;
          }
        }
      }
    }
    return new Enforced(
        new Result.Failed(
            new Failure(
                family + " rules: lost " + ATTEMPTS + " races with another writer, last: " + races,
                "tried again shortly; find out who keeps rewriting the nat table")),
        Optional.empty());
  }

  /** This policy in force. */
  static Planner toward(Backend backend, Policy policy) {
    return observed -> Plan.toward(backend.normalize(policy, observed), observed);
  }

  /** The policy that the kernel already has; if there is none, this one. */
  static Planner keepOr(Backend backend, Policy policy) {
    return observed ->
        Plan.toward(
            observed.policy().orElseGet(() -> backend.normalize(policy, observed)), observed);
  }

  /** Puts a policy in force for a family. */
  public Result enforce(Backend backend, Policy policy) {
    return enforce(backend, policy.family(), toward(backend, policy)).result();
  }

  /** Removes all rules of this agent. */
  public Result remove(Backend backend, Family family) {
    return enforce(backend, family, Plan::removal).result();
  }
}
