package ipmasq.status;

import ipmasq.backend.Observation;
import ipmasq.evidence.neighbours.Conflict;
import ipmasq.net.Family;
import ipmasq.sync.SyncReport;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Reads the kernel's state for those who ask, at most once per second. Used by one thread. */
public final class KernelSampler {
  private static final long FRESH_NANOS = Duration.ofSeconds(1).toNanos();

  /** Reads our rules of one family, with a backend that is the sampler's alone. */
  @FunctionalInterface
  public interface OwnRules {
    Observation read(SyncReport report, Family family);
  }

  /** Supplies the rules of others that override the config, as they are now. */
  @FunctionalInterface
  public interface Neighbours {
    /** Empty if they are not known. */
    Optional<List<Conflict>> read(SyncReport report, Family family);
  }

  /**
   * A reading and its time.
   *
   * @param conflicts a family is missing where they are not known
   */
  public record Sample(
      Instant at, Map<Family, Observation> rules, Map<Family, List<Conflict>> conflicts) {
    /** Nothing was read. */
    static final Sample NONE = new Sample(Instant.MIN, Map.of(), Map.of());

    public Sample {
      rules = Map.copyOf(rules);
      conflicts = Map.copyOf(conflicts);
    }
  }

  private final OwnRules ownRules;
  private final Neighbours neighbours;
  private final InstantSource clock;
  private final LongSupplier nanos;
  private final FlowHistory flows = new FlowHistory();
  private final AtomicInteger changes = new AtomicInteger();

  private @Nullable Sample sample;
  private @Nullable SyncReport sampled;
  private long sampledAt;
  private int sampledChanges;

  /**
   * @param nanos a clock that never jumps
   */
  public KernelSampler(
      OwnRules ownRules, Neighbours neighbours, InstantSource clock, LongSupplier nanos) {
    this.ownRules = ownRules;
    this.neighbours = neighbours;
    this.clock = clock;
    this.nanos = nanos;
  }

  /**
   * The kernel's state.
   *
   * @param report the latest, which names the backend
   */
  Sample read(SyncReport report) {
    Sample known = sample;
    return known != null && isFresh(report) ? known : readNow(report);
  }

  @SuppressWarnings("ReferenceEquality") // a later sync may be equal, and the kernel is not
  private boolean isFresh(SyncReport report) {
    return report == sampled
        && sampledChanges == changes.get()
        && nanos.getAsLong() - sampledAt < FRESH_NANOS;
  }

  private Sample readNow(SyncReport report) {
    sampledChanges = changes.get();
    Map<Family, Observation> rules = new EnumMap<>(Family.class);
    Map<Family, List<Conflict>> conflicts = new EnumMap<>(Family.class);
    for (Family family : report.results().keySet()) {
      rules.put(family, ownRules.read(report, family));
      try {
        neighbours.read(report, family).ifPresent(found -> conflicts.put(family, found));
      } catch (RuntimeException bug) {
        // Its own thread logs it; what is known of our rules is still worth saying.
      }
    }
    flows.record(rules, nanos.getAsLong());
    Sample now = new Sample(clock.instant(), rules, conflicts);
    sample = now;
    sampled = report;
    sampledAt = nanos.getAsLong();
    return now;
  }

  /** The latest reading no longer holds. For any thread. */
  public void outdated() {
    changes.incrementAndGet();
  }

  /** The flows of the last hour and of its busiest ranges, as far as the counters were read. */
  Optional<FlowHistory.Hour> hour(int ranges) {
    return flows.hour(nanos.getAsLong(), ranges);
  }
}
