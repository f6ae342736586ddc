package ipmasq.status;

import ipmasq.backend.Observation;
import ipmasq.evidence.neighbours.Conflict;
import ipmasq.net.Family;
import ipmasq.status.Status.Sample;
import ipmasq.sync.SyncReport;
import java.time.Duration;
import java.time.InstantSource;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Reads the kernel's state for those who ask, at most once per second. Used by one thread. */
public final class KernelSampler {
  private static final long FRESH_NANOS = Duration.ofSeconds(1).toNanos();

  private final BiFunction<SyncReport, Family, Observation> ownRules;
  private final Function<SyncReport, Optional<List<Conflict>>> conflicts;
  private final InstantSource clock;
  private final LongSupplier nanos;

  private Sample sample = Sample.NONE;
  private @Nullable Status readFor;
  private long readAt;

  /**
   * @param ownRules reads our rules of one family, with a backend that is the sampler's alone
   * @param conflicts reads the rules of others that override the config; empty if they are unknown
   * @param nanos a clock that never jumps
   */
  public KernelSampler(
      BiFunction<SyncReport, Family, Observation> ownRules,
      Function<SyncReport, Optional<List<Conflict>>> conflicts,
      InstantSource clock,
      LongSupplier nanos) {
    this.ownRules = ownRules;
    this.conflicts = conflicts;
    this.clock = clock;
    this.nanos = nanos;
  }

  /**
   * The kernel's state.
   *
   * @param known the latest status: what was read before a sync, or before something that was worth
   *     a line in the log, is outdated
   */
  Sample read(Status known) {
    if (readFor == null || isNews(known, readFor) || nanos.getAsLong() - readAt >= FRESH_NANOS) {
      Map<Family, Observation> rules = new EnumMap<>(Family.class);
      known.enabled().forEach(family -> rules.put(family, ownRules.apply(known.last(), family)));
      sample = new Sample(clock.instant(), rules, conflicts.apply(known.last()));
      readFor = known;
      readAt = nanos.getAsLong();
    }
    return sample;
  }

  @SuppressWarnings("ReferenceEquality") // a later one may be equal, and the kernel is not
  private static boolean isNews(Status now, Status before) {
    return now.last() != before.last() || now.history() != before.history();
  }
}
