package ipmasq.loop;

import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.backend.Outcome;
import ipmasq.loop.Pass.Result;
import ipmasq.net.Family;
import ipmasq.plan.Observed;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import java.util.List;
import java.util.Optional;

/**
 * Observe, plan, apply, for one family and one backend.
 *
 * @param writes whether plans are carried out, or only made
 */
public record Enforcement(boolean writes) {
  /** A commit that others' commits overtake is tried again this often before it waits its turn. */
  private static final int ATTEMPTS = 5;

  /** What shall be there in the end. */
  sealed interface Goal {
    /** This policy. */
    record Enforce(Policy policy) implements Goal {}

    /** The policy that is there already; where there is none, this one. */
    record KeepOr(Policy policy) implements Goal {}

    /** Nothing of ours. */
    record Remove() implements Goal {}
  }

  /**
   * What came of it.
   *
   * @param plan the last that was made; nothing where the rules could not be looked at
   */
  record Enforced(Result result, Optional<Plan> plan) {
    List<String> remarks() {
      return plan.map(it -> it.observed().remarks()).orElse(List.of());
    }
  }

  Enforced enforce(Backend backend, Family family, Goal goal) {
    String races = "";
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      switch (backend.observe(family)) {
        case Observation.Unseen(var failure) -> {
          return new Enforced(new Result.Failed(failure), Optional.empty());
        }
        case Observation.Seen(var observed) -> {
          Plan plan = plan(backend, goal, observed);
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

  private static Plan plan(Backend backend, Goal goal, Observed observed) {
    return switch (goal) {
      case Goal.Enforce(var policy) -> Plan.toward(backend.normalize(policy, observed), observed);
      case Goal.KeepOr(var policy) ->
          Plan.toward(
              observed.policy().orElseGet(() -> backend.normalize(policy, observed)), observed);
      case Goal.Remove() -> Plan.removal(observed);
    };
  }

  /** Brings a family to a policy. */
  public Result enforce(Backend backend, Policy policy) {
    return enforce(backend, policy.family(), new Goal.Enforce(policy)).result();
  }

  /** Removes all that is ours. */
  public Result remove(Backend backend, Family family) {
    return enforce(backend, family, new Goal.Remove()).result();
  }
}
