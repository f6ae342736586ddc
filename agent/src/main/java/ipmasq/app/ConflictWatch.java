package ipmasq.app;

import ipmasq.backend.iptables.LegacyWatch;
import ipmasq.config.Config.BackendChoice;
import ipmasq.evidence.EvidenceThread;
import ipmasq.evidence.neighbours.Conflict;
import ipmasq.evidence.neighbours.Explanation;
import ipmasq.evidence.neighbours.Neighbours;
import ipmasq.evidence.neighbours.NodeLinks;
import ipmasq.evidence.neighbours.Question;
import ipmasq.iptables.LegacyTables;
import ipmasq.log.Log;
import ipmasq.log.LogEvent;
import ipmasq.net.Family;
import ipmasq.netlink.Answer;
import ipmasq.netlink.LegacyTable;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.nftables.Nftables;
import ipmasq.policy.Policy;
import ipmasq.sync.SyncReport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Watches all rules for those that override the config, and answers questions about packets, on the
 * evidence thread. Logs and records each conflict that appears or disappears. Safe for use by
 * several threads.
 *
 * <p>Every four seconds, and when somebody asks, it asks for the kernel's ruleset generation, a
 * fingerprint of the rules of iptables-legacy and the interfaces, and reads the rules only if one
 * of them or our own rules changed. A slow reading delays the next one, by some seconds at most.
 * Twice per minute it reads them in any case if a rule asks an ipset.
 */
public final class ConflictWatch implements Consumer<SyncReport> {
  private static final Duration SETTLE = Duration.ofSeconds(2);
  private static final Duration STEP = Duration.ofSeconds(4);
  private static final Duration SELDOM = Duration.ofSeconds(30);
  private static final Duration LONGEST_REST = Duration.ofSeconds(8);
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(5);
  private static final int SHARE = 20;

  private final EvidenceThread evidence;
  private final Log log;

  private volatile Map<Family, List<Conflict>> latest = Map.of();

  private volatile @Nullable SyncReport report;
  private boolean started; // used by the thread that reports syncs

  // Used by the evidence thread.
  private final Neighbours neighbours = new Neighbours();
  private final LegacyWatch legacy = new LegacyWatch();
  private @Nullable Nftables nftables;
  private List<Object> seen = List.of();
  private @Nullable SyncReport readFor;
  private long readAt;
  private long rest;
  private List<Conflict> reported = List.of();

  public ConflictWatch(EvidenceThread evidence, Log log) {
    this.evidence = evidence;
    this.log = log;
  }

  /** Whether this backend's rules are at a kernel hook at all. */
  public static boolean has(BackendChoice backend) {
    return backend != BackendChoice.CNI && !Backends.WINDOWS;
  }

  private static boolean has(SyncReport report) {
    return has(report.config().backend()) && !report.backend().equals("cni");
  }

  @Override
  public void accept(SyncReport sync) {
    report = sync;
    if (!started && has(sync)) {
      started = true;
      evidence.schedule(
          SETTLE, // at startup the rules come first
          () -> {
            readIfDue(SELDOM);
            return STEP;
          });
    }
  }

  /**
   * The conflicts as they are now, as far as they can be read soon; empty if they are not known.
   */
  Optional<List<Conflict>> at(SyncReport asked) {
    if (has(asked)) {
      Optional<Future<Boolean>> read =
          evidence.ask(
              () -> {
                readIfDue(STEP);
                return true;
              });
      try {
        if (read.isPresent()) {
          read.get().get(LONGEST_WAIT.toMillis(), TimeUnit.MILLISECONDS);
        }
      } catch (ExecutionException | TimeoutException late) {
        return known(asked);
      } catch (InterruptedException end) {
        Thread.currentThread().interrupt();
      }
    }
    return known(asked);
  }

  /** The conflicts of the latest reading; empty before the first. Never waits. */
  Optional<List<Conflict>> known(SyncReport asked) {
    Map<Family, List<Conflict>> families = latest;
    List<Conflict> conflicts = new ArrayList<>();
    for (Family family : Family.values()) {
      if (asked.config().enables(family) && has(asked)) {
        if (!families.containsKey(family)) {
          return Optional.empty();
        }
        conflicts.addAll(families.getOrDefault(family, List.of()));
      }
    }
    return Optional.of(conflicts);
  }

  /**
   * Explains a packet, by all rules.
   *
   * @return the answer to come, as it is printed; empty if too many questions wait already
   */
  public <T> Optional<Future<T>> explain(Question question, Function<Explanation, T> print) {
    return evidence.ask(
        () -> print.apply(explain(question, Objects.requireNonNull(report, "before any sync"))));
  }

  private Explanation explain(Question question, SyncReport now) {
    Family family = question.family();
    Optional<Policy> policy =
        now.config().enables(family) ? Optional.of(now.policy(family)) : Optional.empty();
    return has(now)
        ? neighbours.explain(question, policy, ours(now, family), NodeAddresses.links())
        : Neighbours.byConfig(question, policy);
  }

  private static Neighbours.Ours ours(SyncReport now, Family family) {
    boolean there =
        now.config().enables(family)
            && !(now.results().get(family) instanceof SyncReport.Result.Failed);
    Optional<Policy> policy = there ? Optional.of(now.policy(family)) : Optional.empty();
    return new Neighbours.Ours(now.backend(), now.config().masqChain(), policy);
  }

  /**
   * @param seldom after which to read if nothing tells of changes
   */
  private void readIfDue(Duration seldom) {
    SyncReport now = report;
    if (now == null) {
      return;
    }
    long start = System.nanoTime();
    NodeLinks links = NodeAddresses.links();
    List<Object> current = List.of(generation(), legacy.fingerprint(), otherLegacy(), links);
    boolean changed = !current.equals(seen) || isNews(now);
    boolean due = start - readAt > seldom.toNanos() && neighbours.asksIpsets();
    if (readFor == null || changed && start - readAt >= rest || due) {
      seen = current;
      try {
        read(now, links);
      } finally {
        readAt = System.nanoTime();
        rest = Math.min((readAt - start) * SHARE, LONGEST_REST.toNanos());
      }
    }
  }

  /**
   * The other tables of iptables-legacy whose rules matter. One replaced by another of the same
   * size does not show: it is read with the next change, or when somebody asks.
   */
  private static List<Object> otherLegacy() {
    List<Object> shapes = new ArrayList<>();
    for (Family family : Family.values()) {
      for (String table : List.of("raw", "mangle", "filter")) {
        if (LegacyTables.ofKernel().look(family, table) == LegacyTables.Presence.THERE) {
          LegacyTable.Ip ip = family == Family.IPV4 ? LegacyTable.Ip.IPV4 : LegacyTable.Ip.IPV6;
          Answer<LegacyTable.Shape> shape = new LegacyTable(ip, table).shape();
          shapes.add(shape instanceof Answer.Given<LegacyTable.Shape>(var now) ? now : table);
        }
      }
    }
    return shapes;
  }

  /** The kernel's ruleset generation; empty if it has no nf_tables. */
  private Optional<Integer> generation() {
    try {
      nftables = nftables == null ? Nftables.open() : nftables;
      return nftables.generation() instanceof Answer.Given<Integer>(var given)
          ? Optional.of(given)
          : Optional.empty();
    } catch (NetlinkUnavailable unavailable) {
      return Optional.empty();
    }
  }

  @SuppressWarnings("ReferenceEquality") // whether it is that very sync, not one like it
  private boolean isNews(SyncReport now) {
    return readFor == null
        || now != readFor && now.changed()
        || !now.config().equals(readFor.config())
        || !now.backend().equals(readFor.backend());
  }

  private void read(SyncReport now, NodeLinks links) {
    Map<Family, List<Conflict>> found = new EnumMap<>(Family.class);
    for (Family family : Family.values()) {
      if (now.config().enables(family)) {
        found.put(family, neighbours.conflicts(now.policy(family), ours(now, family), links));
      }
    }
    readFor = now;
    latest = Map.copyOf(found);
    report(found.values().stream().flatMap(List::stream).toList());
  }

  /**
   * One line when a conflict appears, and one when it disappears. Where few rules become many or
   * the reverse, none of those that stay is said to be gone.
   */
  private void report(List<Conflict> now) {
    List<Conflict> still = new ArrayList<>();
    for (Conflict conflict : reported) {
      if (now.stream().anyMatch(it -> it.isSame(conflict) || it.isMany() && it.isLike(conflict))) {
        still.add(conflict); // or, among many, nobody knows
      } else if (!conflict.isMany() || now.stream().noneMatch(conflict::isLike)) {
        log.info(event(LogEvent.Kind.CONFLICT_GONE, "conflict gone: " + conflict.line(), conflict));
      }
    }
    for (Conflict conflict : now) {
      if (still.stream().noneMatch(conflict::isSame)) {
        still.add(conflict);
        LogEvent event = event(LogEvent.Kind.CONFLICT, conflict.toString(), conflict);
        if (conflict.kind().serious()) {
          log.warn(event);
        } else {
          log.info(event);
        }
      }
    }
    reported = still;
  }

  private static LogEvent event(LogEvent.Kind kind, String line, Conflict conflict) {
    return LogEvent.of(kind, line)
        .with("family", conflict.family())
        .with("conflict", conflict.fields());
  }
}
