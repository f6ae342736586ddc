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
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The server for {@code --listen}; the first sync starts it. The line's thread reports to it. */
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
    return new Status.Identity(Version.text(), node(), started, agent);
  }

  /** The name from the manifest, else the host's name. */
  private static Optional<String> node() {
    String name = System.getenv("NODE_NAME");
    return name != null && !name.isBlank() ? Optional.of(name) : hostname();
  }

  /** The node's names that a Host header may carry. */
  private static Set<String> names() {
    return Stream.concat(node().stream(), hostname().stream()).collect(Collectors.toSet());
  }

  /** The host's own name, which a pod in the host network shares. */
  private static Optional<String> hostname() {
    try {
      return Optional.of(Files.readString(Path.of("/proc/sys/kernel/hostname")).strip());
    } catch (IOException unknown) {
      return Optional.empty();
    }
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
      Endpoint.start(where, Endpoint.Limits.USUAL, names(), handler, this);
    }
  }

  private KernelSampler sampler() {
    Backends reading = Backends.withoutOwner(cni); // its own: used by one thread at a time
    return new KernelSampler(
        (report, family) -> {
          // The backend that the line writes to, whatever the config leaves open.
          Config config = Backends.fixed(report.config(), report.backend());
          return reading.places(config).getFirst().observe(family);
        },
        conflicts::at,
        Clock.systemUTC(),
        System::nanoTime);
  }

  @Override
  public void open(InetSocketAddress at) {
    log.info(
        LogEvent.of(LogEvent.Kind.LISTENING, "listening on http://" + name(at))
            .with("address", name(at)));
  }

  @Override
  public void shut(InetSocketAddress at, String why) {
    String line =
        "cannot listen on "
            + name(at)
            + " ("
            + why
            + "): masquerading goes on without it, and it is tried again until it works";
    log.error(LogEvent.of(LogEvent.Kind.LISTEN_FAILED, line).with("address", name(at)));
  }

  private static String name(InetSocketAddress at) {
    String text = at.getAddress().getHostAddress();
    return (text.indexOf(':') >= 0 ? "[" + text + "]" : text) + ":" + at.getPort();
  }
}
