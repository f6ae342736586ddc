package ipmasq.loop;

import ipmasq.backend.Backend;
import ipmasq.backend.Chosen;
import ipmasq.backend.Observation;
import ipmasq.config.Config;
import ipmasq.loop.Pass.Result;
import ipmasq.net.Family;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a former config left behind: rules of a family that is off now, rules that another backend
 * wrote. Used by one thread.
 *
 * <p>They are looked for once for each config and backend, and a few times more where not all could
 * be looked at.
 */
final class Leftovers {
  /** What cannot be looked at right now may be a little later; what never can is let be. */
  private static final int SWEEPS = 5;

  /** For whom they were last looked for. */
  private record Sweep(Config config, Backend backend) {}

  private @Nullable Sweep last;
  private int sweepsLeft;

  /**
   * Removes them. Only where the rules of this config are in force: else packets would meet none.
   *
   * @param results of the pass; changed where something was removed, or was to be and is still
   *     there
   */
  void sweep(Config config, Chosen chosen, Map<Family, Result> results) {
    Sweep sweep = new Sweep(config, chosen.backend());
    if (!sweep.equals(last)) {
      last = sweep;
      sweepsLeft = SWEEPS;
    }
    if (sweepsLeft == 0) {
      return;
    }
    sweepsLeft--;
    boolean clean = true;
    for (Family family : Family.values()) {
      if (!config.enables(family)) {
        keepIfChanged(results, family, Enforcement.remove(chosen.backend(), family));
      }
      for (Backend other : chosen.others()) {
        clean &= removed(other, family, results);
      }
    }
    sweepsLeft = clean ? 0 : sweepsLeft;
  }

  /** Whether there is no reason to look again, for as long as config and backend stay. */
  boolean swept() {
    return sweepsLeft == 0;
  }

  /** Whether nothing of another backend's is left. */
  private static boolean removed(Backend other, Family family, Map<Family, Result> results) {
    return switch (other.observe(family)) {
      // Mostly because there is no such program, and then there are no rules of it either.
      case Observation.Unseen _ -> false;
      case Observation.Seen(var observed) when observed.absent() -> true;
      case Observation.Seen _ -> {
        Result result = Enforcement.remove(other, family);
        if (result instanceof Result.Failed) {
          results.put(family, result); // else both would translate, each in its own way
        }
        yield !(result instanceof Result.Failed);
      }
    };
  }

  /** A node without IPv6 cannot be swept of IPv6 rules, and need not be: no failure. */
  private static void keepIfChanged(Map<Family, Result> results, Family family, Result result) {
    switch (result) {
      case Result.Changed changed -> results.put(family, changed);
      case Result.Unchanged _, Result.Failed _ -> {}
    }
  }
}
