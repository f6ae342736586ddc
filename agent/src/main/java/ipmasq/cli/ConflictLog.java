package ipmasq.cli;

import ipmasq.config.Config;
import ipmasq.hook.Conflict;
import ipmasq.hook.Conflicts;
import ipmasq.log.Log;
import ipmasq.loop.Pass;
import ipmasq.net.Family;
import ipmasq.policy.Policy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Tells the log of rules of others that decide against the config: each once, and when it is gone.
 * Told of passes by the loop's thread.
 *
 * <p>It looks a while after the start and after rules were written, on a thread that ends with the
 * look: a look costs a process, so a quiet node has none.
 */
final class ConflictLog implements Consumer<Pass> {
  private static final Duration SETTLE = Duration.ofSeconds(5);
  private static final Duration GAP = Duration.ofMinutes(10);

  private final Log log;
  private boolean looking;
  private boolean looked;
  private long lookedAt;
  private Set<Conflict> known = Set.of();

  ConflictLog(Log log) {
    this.log = log;
  }

  @Override
  public synchronized void accept(Pass pass) {
    boolean due = !looked || pass.changed() && System.nanoTime() - lookedAt > GAP.toNanos();
    if (due && !looking && pass.enforced() && !pass.backend().equals("cni")) {
      looking = true;
      looked = true;
      lookedAt = System.nanoTime();
      Thread.ofPlatform().daemon().name("conflicts").start(() -> look(pass));
    }
  }

  private void look(Pass pass) {
    try {
      Thread.sleep(SETTLE); // the start belongs to the rules
      tell(conflicts(pass.config()));
    } catch (InterruptedException end) {
      Thread.currentThread().interrupt();
    } finally {
      synchronized (this) {
        looking = false;
      }
    }
  }

  private static List<Conflict> conflicts(Config config) {
    Hooks hooks = new Hooks();
    List<Conflict> conflicts = new ArrayList<>();
    for (Family family : Family.values()) {
      if (config.enables(family)) {
        Policy policy = config.policy(family);
        conflicts.addAll(
            Conflicts.in(hooks.at(family, config.masqChain(), Optional.of(policy)), policy));
      }
    }
    return conflicts;
  }

  private synchronized void tell(List<Conflict> found) {
    Set<Conflict> now = new LinkedHashSet<>(found);
    for (Conflict conflict : now) {
      if (!known.contains(conflict)) {
        if (conflict.kind().serious()) {
          log.warn(conflict.toString());
        } else {
          log.info(conflict.toString());
        }
      }
    }
    for (Conflict conflict : known) {
      if (!now.contains(conflict)) {
        log.info("gone: " + conflict.family() + ": " + conflict.sentence());
      }
    }
    known = now;
  }
}
