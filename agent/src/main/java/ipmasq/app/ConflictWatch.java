package ipmasq.app;

import ipmasq.backend.iptables.LegacyWatch;
import ipmasq.config.Config;
import ipmasq.hook.Conflict;
import ipmasq.hook.Hook;
import ipmasq.hook.NodeLinks;
import ipmasq.log.Log;
import ipmasq.log.LogEvent;
import ipmasq.log.LogEvent.LogEventKind;
import ipmasq.loop.Pass;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.netlink.Answer;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.nftables.Generation;
import ipmasq.netlink.nftables.Nftables;
import ipmasq.policy.Policy;
import ipmasq.status.HookSample;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Watches all rules for those that override the config, on its own thread for the life of the
 * process. Logs and records each conflict that appears or disappears; callers get the latest look.
 * The loop's thread reports passes to it; safe for use by several threads.
 *
 * <p>Every four seconds, and when somebody asks, it asks for the kernel's ruleset generation and
 * for a fingerprint of the rules of iptables-legacy, and looks only if one of them or our own rules
 * changed. A slow look delays the next one, by some seconds at most. Twice per minute it looks in
 * any case if iptables-legacy is in use, whose rules that set marks are in tables that have
 * neither, if a rule asks an ipset, if the last look did not list all chains, or if the node has
 * other interfaces now.
 */
public final class ConflictWatch implements Consumer<Pass> {
  private static final Duration SETTLE = Duration.ofSeconds(2);
  private static final Duration STEP = Duration.ofSeconds(4);
  private static final Duration SELDOM = Duration.ofSeconds(30);
  private static final Duration LONGEST_REST = Duration.ofSeconds(8);
  private static final int SHARE = 20;

  private final Log log;
  private final NatHooks hooks = new NatHooks();

  /** Receives each conflict that appears ({@code true}) or disappears. */
  private volatile BiConsumer<Conflict, Boolean> history = (_, _) -> {};

  private volatile Map<Family, HookSample> latest = Map.of();
  private volatile @Nullable Pass pass;
  private boolean started;

  // Guarded by this object's lock.
  private @Nullable Nftables nftables;
  private final LegacyWatch legacy = LegacyWatch.ofKernel();
  private @Nullable Generation generation;
  private Optional<Object> legacyRules = Optional.empty();
  private long lookedAt;
  private long askedForLinksAt;
  private long rest;
  private @Nullable Pass lookedFor;
  private List<Conflict> told = List.of();
  private Map<Family, Hook> seen = Map.of();
  private NodeLinks links = NodeLinks.UNKNOWN;

  public ConflictWatch(Log log) {
    this.log = log;
  }

  /** Another listener for conflicts that appear ({@code true}) or disappear. */
  void tell(BiConsumer<Conflict, Boolean> listener) {
    history = listener;
  }

  @Override
  public void accept(Pass latestPass) {
    pass = latestPass;
    if (!started && NatHooks.has(latestPass.config().backend()) && !isCni(latestPass)) {
      started = true;
      Thread.ofPlatform().daemon().name("conflicts").start(this::run);
    }
  }

  private static boolean isCni(Pass pass) {
    return pass.backend().equals("cni");
  }

  /** The latest look; takes one if there is none, or if rules changed. Empty without a hook. */
  synchronized Optional<HookSample> at(Pass asked, Family family) {
    if (isCni(asked)) {
      return Optional.empty();
    }
    if (latest.containsKey(family)) {
      lookIfDue(hooks.hasIpsets() ? STEP : SELDOM);
    } else {
      look(asked);
    }
    return Optional.ofNullable(latest.get(family));
  }

  /** The conflicts of the latest look; empty before the first. Never looks, so it never waits. */
  Optional<List<Conflict>> known(Pass asked) {
    Map<Family, HookSample> samples = latest;
    List<Conflict> conflicts = new ArrayList<>();
    for (Family family : Family.values()) {
      HookSample sample = samples.get(family);
      if (asked.config().enables(family) && !isCni(asked)) {
        if (sample == null) {
          return Optional.empty();
        }
        conflicts.addAll(sample.conflicts());
      }
    }
    return Optional.of(conflicts);
  }

  /** The nat prerouting hook, where services get their destination. */
  static Optional<Hook> services(Ip to, boolean ofNode) {
    return Optional.of(new NatHooks().services(to, ofNode)); // for any thread
  }

  private void run() {
    lookedAt = System.nanoTime();
    askedForLinksAt = lookedAt;
    try {
      Thread.sleep(SETTLE); // at startup the rules come first
      while (true) {
        try {
          lookIfDue(SELDOM);
        } catch (RuntimeException bug) {
          log.error(
              LogEvent.of(
                  LogEventKind.CONFLICT_CHECK_FAILED,
                  "looking for conflicts failed: " + bug + "; please report this"));
        } catch (OutOfMemoryError full) {
          log.error(
              LogEvent.of(
                  LogEventKind.CONFLICT_CHECK_FAILED,
                  "out of memory while looking for conflicts: tried again later"));
          Thread.sleep(SELDOM);
        }
        Thread.sleep(STEP);
      }
    } catch (InterruptedException end) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * @param seldom after which to look if nobody tells of changes
   */
  private synchronized void lookIfDue(Duration seldom) {
    Pass now = pass;
    long start = System.nanoTime();
    Generation current = generation();
    Optional<Object> legacyNow = legacy.fingerprint();
    boolean changed =
        current != null && !current.equals(generation)
            || legacyNow.isPresent() && !legacyNow.equals(legacyRules)
            || isNews(now);
    boolean untold =
        start - lookedAt > seldom.toNanos()
            && (current == null || hasLegacy() || hooks.hasIpsets() || hooks.mayHaveMissed());
    if (now != null && (changed && start - lookedAt >= rest || untold || hasOtherLinks(start))) {
      generation = current;
      legacyRules = legacyNow;
      try {
        look(now);
      } finally {
        lookedAt = System.nanoTime();
        rest = Math.min((lookedAt - start) * SHARE, LONGEST_REST.toNanos());
      }
    }
  }

  /** A rule may name an interface that comes later; asked for now and then. */
  private boolean hasOtherLinks(long now) {
    if (now - askedForLinksAt < SELDOM.toNanos()) {
      return false;
    }
    askedForLinksAt = now;
    return !NodeAddresses.links().equals(links);
  }

  /** The kernel's ruleset generation; null if it has no nf_tables. */
  private @Nullable Generation generation() {
    try {
      if (nftables == null) {
        nftables = Nftables.open();
      }
      return nftables.generation() instanceof Answer.Given<Generation>(var given) ? given : null;
    } catch (NetlinkUnavailable unavailable) {
      return null;
    }
  }

  @SuppressWarnings("ReferenceEquality") // whether it is that very pass, not one like it
  private boolean isNews(@Nullable Pass now) {
    return now != null
        && (lookedFor == null
            || now != lookedFor && now.changed()
            || !now.config().equals(lookedFor.config())
            || !now.backend().equals(lookedFor.backend()));
  }

  private boolean hasLegacy() {
    return hooks.hasLegacy(Family.IPV4) || hooks.hasLegacy(Family.IPV6);
  }

  private synchronized void look(Pass now) {
    Config config = now.config();
    Map<Family, HookSample> samples = new EnumMap<>(Family.class);
    Map<Family, Hook> found = new EnumMap<>(Family.class);
    NodeLinks nodeLinks = NodeAddresses.links();
    for (Family family : Family.values()) {
      if (config.enables(family)) {
        Policy policy = now.policy(family);
        boolean failed = now.results().get(family) instanceof Pass.Result.Failed;
        Optional<Policy> ours = failed ? Optional.empty() : Optional.of(policy);
        Hook hook = hooks.at(family, now.backend(), config.masqChain(), ours);
        HookSample before = latest.get(family);
        found.put(family, hook);
        samples.put(
            family,
            before != null && hook.equals(seen.get(family)) && nodeLinks.equals(links)
                ? before
                : HookSample.of(hook, policy, nodeLinks));
      }
    }
    lookedFor = now;
    links = nodeLinks;
    seen = found;
    latest = Map.copyOf(samples);
    tell(samples);
  }

  /**
   * One line when a conflict appears, and one when it disappears. Where few rules become many or
   * the reverse, none of those that stay is said to be gone.
   */
  private void tell(Map<Family, HookSample> samples) {
    List<Conflict> now =
        samples.values().stream().flatMap(sample -> sample.conflicts().stream()).toList();
    List<Conflict> still = new ArrayList<>();
    for (Conflict conflict : told) {
      if (now.stream().anyMatch(it -> it.isSame(conflict) || it.isMany() && it.isLike(conflict))) {
        still.add(conflict); // or, among many, nobody knows
      } else if (!conflict.isMany() || now.stream().noneMatch(conflict::isLike)) {
        log.info(event(LogEventKind.CONFLICT_GONE, "gone: " + conflict.line(), conflict));
        history.accept(conflict, false);
      }
    }
    for (Conflict conflict : now) {
      if (still.stream().noneMatch(conflict::isSame)) {
        still.add(conflict);
        LogEvent event = event(LogEventKind.CONFLICT, conflict.toString(), conflict);
        if (conflict.kind().serious()) {
          log.warn(event);
        } else {
          log.info(event);
        }
        history.accept(conflict, true);
      }
    }
    told = still;
  }

  private static LogEvent event(LogEventKind kind, String line, Conflict conflict) {
    return LogEvent.of(kind, line)
        .with("family", conflict.family())
        .with("conflict", conflict.fields());
  }
}
