package ipmasq.sync;

import ipmasq.backend.Backend;
import ipmasq.backend.Observation;
import ipmasq.config.Config;
import ipmasq.net.Family;
import ipmasq.sync.SyncReport.Result;
import ipmasq.sync.Targets.Target;
import java.util.ArrayList;
import java.util.List;

/**
 * Removes rules left by an earlier config, an older agent or another backend: if they stayed, both
 * sets of rules would translate packets.
 *
 * @param results one for each place that held stale rules
 * @param unread what is known of stale rules that cannot be read, each a sentence
 */
public record Sweep(List<Swept> results, List<String> unread) {
  public Sweep {
    results = List.copyOf(results);
    unread = List.copyOf(unread);
  }

  /** Everything could be read. */
  public Sweep(List<Swept> results) {
    this(results, List.of());
  }

  /** Nothing was swept. */
  static final Sweep NONE = new Sweep(List.of());

  /** The result for one place. */
  public record Swept(String backend, Family family, Result result) {}

  /** Only if the rules of this config are in force; otherwise packets would meet none. */
  static Sweep of(Enforcement enforcement, Config config, Target target) {
    List<Swept> swept = new ArrayList<>();
    List<String> unread = new ArrayList<>();
    for (Family family : Family.values()) {
      if (!config.enables(family)) {
        sweep(enforcement, target.backend(), family, swept, unread);
      }
      for (Backend other : target.others()) {
        sweep(enforcement, other, family, swept, unread);
      }
    }
    return new Sweep(swept, unread);
  }

  private static void sweep(
      Enforcement enforcement,
      Backend backend,
      Family family,
      List<Swept> swept,
      List<String> unread) {
    switch (backend.observe(family)) {
      case Observation.Seen(var observed) -> {
        if (!observed.absent()) {
          swept.add(new Swept(backend.name(), family, enforcement.remove(backend, family)));
        }
      }
      // What cannot be read usually does not exist: no such program, no IPv6.
      case Observation.Unseen _ -> unread.addAll(backend.unreadRemains(family));
      case Observation.Unusable _ -> {}
    }
  }
}
