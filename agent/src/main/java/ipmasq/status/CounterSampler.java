package ipmasq.status;

import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.hook.Hook;
import ipmasq.loop.Pass;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.policy.Policy;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the kernel for those who ask from outside, on a thread of its own, so that neither the
 * loop nor the server waits. Safe for use by several threads.
 *
 * <p>However many ask, it looks once a second at most. While nobody does, it reads the counters
 * when it is told that a pass is over and that reading them is cheap, so that the last hour has no
 * gaps.
 */
public final class CounterSampler {
  private static final long FRESH_NANOS = Duration.ofSeconds(1).toNanos();

  /** Looks at one family, with a backend that is the sampler's alone. */
  @FunctionalInterface
  public interface BackendLook {
    Observation at(Pass pass, Family family);
  }

  /** Hands out the latest look at the whole hook of one family. */
  @FunctionalInterface
  public interface HookLook {
    /** Empty if there is none. */
    Optional<HookSample> at(Pass pass, Family family, Optional<Policy> ours);
  }

  /** Looks at the nat prerouting hook, where services get their destination. */
  @FunctionalInterface
  public interface Services {
    /** As far as it concerns a destination. */
    Optional<Hook> at(Ip to);
  }

  /**
   * What was seen, and when; no hook where there is none to look at.
   *
   * @param services asked when somebody asks about a packet
   */
  public record Sample(
      Instant at,
      Map<Family, Observation> families,
      Map<Family, HookSample> hooks,
      Services services) {
    public Sample {
      families = Map.copyOf(families);
      hooks = Map.copyOf(hooks);
    }

    public Sample(Instant at, Map<Family, Observation> families, Map<Family, HookSample> hooks) {
      this(at, families, hooks, _ -> Optional.empty());
    }
  }

  /**
   * @param asked whether somebody waits for it; else it is for the history alone
   */
  private record Job(Pass pass, boolean asked) {}

  private final BackendLook look;
  private final HookLook hookLook;
  private final Services services;
  private final InstantSource clock;
  private final LongSupplier nanos;

  private final FlowHistory flows = new FlowHistory();
  private final List<Consumer<Sample>> waiting = new ArrayList<>();
  private @Nullable Pass wanted;
  private @Nullable Pass sampled;
  private @Nullable Sample sample;
  private long sampledAt;
  private boolean started;
  private boolean counting;

  /**
   * @param nanos a clock that never jumps
   */
  public CounterSampler(
      BackendLook look, HookLook hookLook, InstantSource clock, LongSupplier nanos) {
    this(look, hookLook, _ -> Optional.empty(), clock, nanos);
  }

  public CounterSampler(
      BackendLook look,
      HookLook hookLook,
      Services services,
      InstantSource clock,
      LongSupplier nanos) {
    this.services = services;
    this.look = look;
    this.hookLook = hookLook;
    this.clock = clock;
    this.nanos = nanos;
  }

  /**
   * Hands over what is in the kernel: at once where it is known, else from another thread.
   *
   * @param pass the latest, which says where to look
   */
  @SuppressWarnings("ReferenceEquality") // a later pass may be equal, and the kernel is not
  public void read(Pass pass, Consumer<Sample> reader) {
    Sample known;
    synchronized (this) {
      boolean fresh =
          sample != null && pass == sampled && nanos.getAsLong() - sampledAt < FRESH_NANOS;
      known = fresh ? sample : null;
      if (known == null) {
        wanted = pass;
        waiting.add(reader);
        wake();
      }
    }
    if (known != null) {
      reader.accept(known);
    }
  }

  /** Reads the counters for the history alone. */
  public synchronized void count(Pass pass) {
    wanted = pass;
    counting = true;
    wake();
  }

  /** The flows of the last hour and of its busiest ranges, as far as the counters were read. */
  Optional<FlowHistory.Hour> hour(int ranges) {
    return flows.hour(nanos.getAsLong(), ranges);
  }

  private synchronized void wake() {
    if (!started) {
      started = true;
      Thread.ofPlatform().daemon().name("sampler").start(this::run);
    }
    notifyAll();
  }

  private void run() {
    try {
      while (true) {
        Job job = awaitJob();
        try {
          Map<Family, Observation> families = look(job.pass);
          flows.record(families, nanos.getAsLong());
          if (job.asked) {
            Sample seen =
                new Sample(clock.instant(), families, hooks(job.pass, families), services);
            for (Consumer<Sample> reader : hand(job.pass, seen)) {
              reader.accept(seen);
            }
          }
        } catch (RuntimeException | OutOfMemoryError full) {
          // Whoever waits is told that it took too long; the next may find more room.
          forget();
        }
      }
    } catch (InterruptedException end) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized Job awaitJob() throws InterruptedException {
    while (waiting.isEmpty() && !counting) {
      wait();
    }
    counting = false;
    return new Job(Objects.requireNonNull(wanted), !waiting.isEmpty());
  }

  private Map<Family, Observation> look(Pass pass) {
    Map<Family, Observation> families = new EnumMap<>(Family.class);
    for (Family family : Family.values()) {
      if (pass.results().containsKey(family)) {
        families.put(family, look(pass, family));
      }
    }
    return families;
  }

  private Map<Family, HookSample> hooks(Pass pass, Map<Family, Observation> families) {
    Map<Family, HookSample> seen = new EnumMap<>(Family.class);
    families.forEach(
        (family, observation) -> {
          Optional<Policy> ours =
              observation instanceof Observation.Seen(var observed)
                  ? observed.policy()
                  : Optional.empty();
          try {
            hookLook.at(pass, family, ours).ifPresent(look -> seen.put(family, look));
          } catch (RuntimeException | OutOfMemoryError bug) {
            // The counters are worth telling all the same.
          }
        });
    return seen;
  }

  private Observation look(Pass pass, Family family) {
    try {
      return look.at(pass, family);
    } catch (RuntimeException bug) {
      // Readers wait for an answer: even a bug is one.
      return new Observation.Unseen(new Failure("looking failed: " + bug, "please report this"));
    } catch (OutOfMemoryError full) {
      return new Observation.Unseen(new Failure("out of memory", "see the agent's log"));
    }
  }

  private synchronized void forget() {
    waiting.clear();
  }

  private synchronized List<Consumer<Sample>> hand(Pass pass, Sample seen) {
    sampled = pass;
    sample = seen;
    sampledAt = nanos.getAsLong();
    List<Consumer<Sample>> readers = List.copyOf(waiting);
    waiting.clear();
    return readers;
  }
}
