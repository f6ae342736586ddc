package ipmasq.loop;

import ipmasq.backend.Backend;
import ipmasq.backend.Observation;
import ipmasq.config.Config;
import ipmasq.loop.Pass.Result;
import ipmasq.net.Family;
import java.util.ArrayList;
import java.util.List;

/**
 * Removes what a former config, an older agent or another backend of ours left: wherever it stands,
 * both would translate packets, each in its own way.
 *
 * @param results one for each place where something of ours stood
 */
public record Sweep(List<Swept> results) {
  public Sweep {
    results = List.copyOf(results);
  }

  /** Nothing was swept. */
  static final Sweep NONE = new Sweep(List.of());

  /** What came of one place. */
  public record Swept(String backend, Family family, Result result) {}

  /** Only where the rules of this config are in force: else packets would meet none. */
  static Sweep of(Enforcement enforcement, Config config, Target target) {
    List<Swept> swept = new ArrayList<>();
    for (Family family : Family.values()) {
      if (!config.enables(family)) {
        sweep(enforcement, target.backend(), family, swept);
      }
      for (Backend other : target.others()) {
        sweep(enforcement, other, family, swept);
      }
    }
    return new Sweep(swept);
  }

  private static void sweep(
      Enforcement enforcement, Backend backend, Family family, List<Swept> swept) {
    // What cannot be looked at is mostly not there: no such program, no IPv6.
    if (backend.observe(family) instanceof Observation.Seen(var observed) && !observed.absent()) {
      swept.add(new Swept(backend.name(), family, enforcement.remove(backend, family)));
    }
  }
}
