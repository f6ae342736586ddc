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
 * Reads the kernel's state for HTTP requests on its own thread, so that neither the loop nor the
 * server waits. Safe for use by several threads.
 *
 * <p>It reads at most once per second, however many requests come. Without requests it reads the
 * counters after a pass, if that is cheap, so that the last hour has no gaps.
 */
public final class CounterSampler {
  private static final long FRESH_NANOS = Duration.ofSeconds(1).toNanos();

  /** Looks at one family, with a backend that is the sampler's alone. */
  @FunctionalInterface
  public interface BackendLook {
    Observation at(Pass pass, Family family);
  }

  /** Supplies the latest look at the whole hook of one family. */
  @FunctionalInterface
  public interface HookLook {
    /** Empty if there is no hook. */
    Optional<HookSample> at(Pass pass, Family family, Optional<Policy> ours);
  }

  /** Looks at the nat hook where services get their destination. */
  @FunctionalInterface
  public interface Services {
    /**
     * The part that concerns a destination.
     *
     * @param ofNode whether the packets are the node's own
     */
    Optional<Hook> at(Ip to, boolean ofNode);
  }

  /**
   * A reading and its time; no hook if there is none.
   *
   * @param services used for questions about a packet
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
      this(at, families, hooks, (_, _) -> Optional.empty());
    }
  }

  /**
   * @param asked whether a request waits for it; else it is only for the history
   * @param changes how many had been told of when it began
   */
  private record Job(Pass pass, boolean asked, int changes) {}

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
  private int changes;
  private boolean started;
  private boolean counting;

  /**
   * @param nanos a clock that never jumps
   */
  public CounterSampler(
      BackendLook look, HookLook hookLook, InstantSource clock, LongSupplier nanos) {
    this(look, hookLook, (_, _) -> Optional.empty(), clock, nanos);
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
   * Passes on the kernel's state: at once if it is fresh, else from another thread.
   *
   * @param pass the latest, which names the backend
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

  /** Reads the counters only for the history. */
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
            for (Consumer<Sample> reader : hand(job, seen)) {
              reader.accept(seen);
            }
          }
        } catch (RuntimeException | OutOfMemoryError full) {
          // The waiting requests time out; the next attempt may find more memory.
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
    return new Job(Objects.requireNonNull(wanted), !waiting.isEmpty(), changes);
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
            // The counters are still worth reporting.
          }
        });
    return seen;
  }

  private Observation look(Pass pass, Family family) {
    try {
      return look.at(pass, family);
    } catch (RuntimeException bug) {
      // Requests wait for an answer, so even a bug must give one.
      return new Observation.Unseen(new Failure("looking failed: " + bug, "please report this"));
    } catch (OutOfMemoryError full) {
      return new Observation.Unseen(new Failure("out of memory", "see the agent's log"));
    }
  }

  private synchronized void forget() {
    waiting.clear();
  }

  /** The latest reading no longer holds. */
  public synchronized void outdated() {
    changes++;
    sample = null;
  }

  private synchronized List<Consumer<Sample>> hand(Job job, Sample seen) {
    sampled = job.pass;
    sample = changes == job.changes ? seen : null;
    sampledAt = nanos.getAsLong();
    List<Consumer<Sample>> readers = List.copyOf(waiting);
    waiting.clear();
    return readers;
  }
}
