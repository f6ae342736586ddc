package ipmasq.loop;

import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.backend.Outcome;
import ipmasq.loop.Pass.Result;
import ipmasq.net.Family;
import ipmasq.plan.Observed;
import ipmasq.plan.Plan;
import java.util.function.Function;

/** Observe, plan, apply, for one family and one backend: the straight line at the loop's heart. */
public final class Enforcement {
  /** A commit that others' commits overtake is tried again this often before it waits its turn. */
  private static final int ATTEMPTS = 5;

  private Enforcement() {}

  /** Brings a family to where {@code planner} wants it, given what is there. */
  public static Result enforce(Backend backend, Family family, Function<Observed, Plan> planner) {
    String races = "";
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      switch (backend.observe(family)) {
        case Observation.Unseen(var failure) -> {
          return new Result.Failed(failure);
        }
        case Observation.Seen(var observed) -> {
          Plan plan = planner.apply(observed);
          if (plan.isEmpty()) {
            return new Result.Unchanged();
          }
          switch (backend.apply(plan)) {
            case Outcome.Applied() -> {
              return new Result.Changed(plan.changes());
            }
            case Outcome.Refused(var failure) -> {
              return new Result.Failed(failure);
            }
            case Outcome.Raced(var how) -> races = how;
          }
        }
      }
    }
    return new Result.Failed(
        new Failure(
            family + " rules: lost " + ATTEMPTS + " races with another writer, last: " + races,
            "tried again shortly; find out who keeps rewriting the nat table"));
  }

  /** Removes all that is ours. */
  public static Result remove(Backend backend, Family family) {
    return enforce(backend, family, Plan::removal);
  }
}
