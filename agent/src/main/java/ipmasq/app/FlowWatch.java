package ipmasq.app;

import ipmasq.config.Config;
import ipmasq.flows.FlowEvidence;
import ipmasq.flows.FlowJudge;
import ipmasq.flows.FlowSampler;
import ipmasq.flows.FlowSampler.Sampling;
import ipmasq.flows.SampledFlow;
import ipmasq.log.Log;
import ipmasq.log.LogEvent;
import ipmasq.log.LogEvent.LogEventKind;
import ipmasq.loop.Heartbeat;
import ipmasq.loop.Pass;
import ipmasq.net.Family;
import ipmasq.policy.Policy;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Samples new flows of the node, on its own thread for the life of the process, and logs when flows
 * start to go against the config and when that ends. The loop's thread reports passes to it; safe
 * for use by several threads.
 *
 * <p>A flow that began while rules were wrong or being written proves nothing. So after each sample
 * it waits as long as a repair would take, and drops the sample if a pass wrote meanwhile or is
 * still running.
 */
public final class FlowWatch implements Consumer<Pass> {
  private static final Duration FIRST = Duration.ofSeconds(3);
  private static final Duration EVERY = Duration.ofSeconds(30);

  /** Time for the watch to notice a change of the rules, and for the pass that follows. */
  private static final Duration REPAIR = Duration.ofSeconds(3);

  private final Heartbeat heartbeat;
  private final Log log;
  private Consumer<FlowEvidence> reader = _ -> {};
  private FlowEvidence evidence = FlowEvidence.none("none sampled yet");
  private @Nullable Pass pass;
  private long writes;
  private boolean wrong;
  private boolean started;

  // Used by the sampling thread only.
  private @Nullable Config judgedBy;
  private Map<Family, Policy> kept = Map.of();
  private FlowJudge judge = new FlowJudge(List.of());

  public FlowWatch(Heartbeat heartbeat, Log log) {
    this.heartbeat = heartbeat;
    this.log = log;
  }

  /** Another listener; it gets the current state at once. */
  synchronized void tell(Consumer<FlowEvidence> listener) {
    reader = listener;
    listener.accept(evidence);
  }

  @Override
  public synchronized void accept(Pass latest) {
    boolean changed = latest.changed() || pass != null && !pass.config().equals(latest.config());
    pass = latest;
    if (changed) {
      writes++;
      if (!evidence.samples().isEmpty()) {
        publish(evidence.anew());
      }
    }
    if (!started && !latest.backend().equals("cni")) {
      started = true;
      Thread.ofPlatform().daemon().name("flows").start(this::run);
    }
  }

  private void run() {
    try {
      Thread.sleep(FIRST); // at startup the rules come first
      while (true) {
        try {
          sample();
        } catch (RuntimeException bug) {
          log.error(
              LogEvent.of(
                  LogEventKind.FLOW_SAMPLE_FAILED,
                  "sampling flows failed: " + bug + "; please report this"));
        } catch (OutOfMemoryError full) {
          log.error(
              LogEvent.of(
                  LogEventKind.FLOW_SAMPLE_FAILED,
                  "out of memory while sampling flows: tried again later"));
        }
        Thread.sleep(EVERY);
      }
    } catch (InterruptedException end) {
      Thread.currentThread().interrupt();
    }
  }

  private void sample() throws InterruptedException {
    Pass before;
    long written;
    synchronized (this) {
      before = pass;
      written = writes;
    }
    if (before == null || !before.enforced() || before.fighting()) {
      nothing("no evidence: the rules are not in force, or another program keeps changing them");
      return;
    }
    Optional<FlowJudge.OwnAddresses> node = NodeAddresses.forFlows();
    if (node.isEmpty()) {
      nothing("no evidence: the node's own addresses are not known");
      return;
    }
    Sampling sampling = FlowSampler.sample(judge(before), node.get());
    Thread.sleep(REPAIR);
    switch (sampling) {
      case Sampling.Impossible(var why) -> nothing(why);
      case Sampling.Taken(var sample) -> {
        synchronized (this) {
          if (writes == written && !heartbeat.inPass()) {
            publish(evidence.and(sample));
          }
        }
      }
    }
  }

  /** Cached, because preparing one for 100,000 ranges takes a moment. */
  @SuppressWarnings("ReferenceEquality") // a config that is the same is mostly that very one
  private FlowJudge judge(Pass pass) {
    if (judgedBy != pass.config() || !kept.equals(pass.effective().kept())) {
      judge =
          new FlowJudge(
              Arrays.stream(Family.values())
                  .filter(family -> pass.results().containsKey(family))
                  .filter(family -> isOurs(pass.config(), family))
                  .map(family -> pass.policy(family))
                  .toList());
      judgedBy = pass.config();
      kept = pass.effective().kept();
    }
    return judge;
  }

  /** Not if sources are configured and none is of this family. */
  private static boolean isOurs(Config config, Family family) {
    return config.sourceCidrs().isEmpty()
        || config.sourceCidrs().stream().anyMatch(range -> range.family() == family);
  }

  private synchronized void nothing(String why) {
    publish(evidence.without(Instant.now(), why));
  }

  /** One line when flows start to go wrong, and one when that ends. */
  private void publish(FlowEvidence latest) {
    evidence = latest;
    Optional<SampledFlow> example = latest.wrongNow();
    if (example.isPresent() && !wrong) {
      log.warn(
          LogEvent.of(
              LogEventKind.FLOWS_WRONG,
              "live flows go against the config: "
                  + latest.wrong()
                  + " of "
                  + latest.flows()
                  + " sampled, e.g. "
                  + example.get()
                  + "; status lists the rules of others"));
    } else if (example.isEmpty() && wrong) {
      log.info(
          LogEvent.of(
              LogEventKind.FLOWS_RIGHT,
              latest.samples().isEmpty()
                  ? "the rules changed: live flows are judged anew"
                  : "live flows no longer go against the config"));
    }
    wrong = example.isPresent();
    reader.accept(latest);
  }
}
