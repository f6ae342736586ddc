package ipmasq.app;

import ipmasq.config.Config;
import ipmasq.evidence.flows.FlowEvidence;
import ipmasq.http.Endpoint;
import ipmasq.log.Log;
import ipmasq.log.LogEvent;
import ipmasq.status.KernelSampler;
import ipmasq.status.Status;
import ipmasq.status.StatusHandler;
import ipmasq.status.StatusTracker;
import ipmasq.sync.Heartbeat;
import ipmasq.sync.SyncReport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** The server for {@code --listen}; the first sync starts it. The main thread reports to it. */
public final class StatusServer implements Consumer<SyncReport>, Endpoint.Listener {
  private final InetSocketAddress where;
  private final Backends.CniFiles cni;
  private final ConflictWatch conflicts;
  private final Optional<FlowWatch> flows;
  private final Log log;
  private final StatusTracker tracker;
  private final Heartbeat heartbeat;
  private boolean started;

  public StatusServer(
      InetSocketAddress where,
      boolean dryRun,
      Backends.CniFiles cni,
      Heartbeat heartbeat,
      ConflictWatch conflicts,
      Optional<FlowWatch> flows,
      Log log) {
    Status.Agent agent = dryRun ? new Status.Agent.DryRun() : new Status.Agent.Running();
    this.tracker = new StatusTracker(identity(Optional.of(Instant.now()), agent), log::recent);
    this.heartbeat = heartbeat;
    this.conflicts = conflicts;
    this.flows = flows;
    this.where = where;
    this.cni = cni;
    this.log = log;
  }

  /**
   * @param started empty if no agent was asked
   */
  public static Status.Identity identity(Optional<Instant> started, Status.Agent agent) {
    return new Status.Identity(Version.text(), names().stream().findFirst(), started, agent);
  }

  /** The node's name from the manifest, then the host's own, which a pod in its network shares. */
  private static List<String> names() {
    List<String> names = new ArrayList<>();
    String given = System.getenv("NODE_NAME");
    if (given != null && !given.isBlank()) {
      names.add(given);
    }
    try {
      names.add(Files.readString(Path.of("/proc/sys/kernel/hostname")).strip());
    } catch (IOException unknown) {
      // No name is better than a wrong one.
    }
    return names;
  }

  @Override
  public void accept(SyncReport report) {
    tracker.accept(report);
    if (!started) {
      started = true;
      flows.ifPresentOrElse(
          watch -> watch.tell(tracker::flows),
          () -> tracker.flows(FlowEvidence.none("not sampled: --flow-samples=false")));
      StatusHandler handler =
          new StatusHandler(
              tracker,
              sampler(),
              conflicts::known,
              conflicts::explain,
              heartbeat,
              Clock.systemUTC());
      Endpoint.start(where, Endpoint.Limits.USUAL, Set.copyOf(names()), handler, this);
    }
  }

  private KernelSampler sampler() {
    Backends reading = new Backends(cni, false, false); // its own: used by one thread at a time
    return new KernelSampler(
        (report, family) -> {
          // The backend that syncs write to, whatever the config leaves open.
          Config config = Backends.fixed(report.config(), report.backend());
          return reading.places(config).getFirst().observe(family);
        },
        conflicts::at,
        Clock.systemUTC(),
        System::nanoTime);
  }

  @Override
  public void open(InetSocketAddress at) {
    String line = "listening on http://" + name(at);
    log.info(LogEvent.of(LogEvent.Kind.LISTENING, line).with("address", name(at)));
  }

  @Override
  public void shut(InetSocketAddress at, String why) {
    String holder =
        NodeProcess.listener(at.getPort()).map(process -> ": " + process + " has it").orElse("");
    String line =
        "cannot listen on "
            + name(at)
            + (" (" + why + holder + "): masquerading goes on without it, and it is tried again")
            + " until it works";
    log.error(LogEvent.of(LogEvent.Kind.LISTEN_FAILED, line).with("address", name(at)));
  }

  private static String name(InetSocketAddress at) {
    String text = at.getAddress().getHostAddress();
    return (text.indexOf(':') >= 0 ? "[" + text + "]" : text) + ":" + at.getPort();
  }
}
