package ipmasq.app;

import ipmasq.backend.Observation;
import ipmasq.config.Config;
import ipmasq.flows.FlowEvidence;
import ipmasq.http.AllowedHosts;
import ipmasq.http.Endpoint;
import ipmasq.http.Limits;
import ipmasq.log.Log;
import ipmasq.log.LogEvent;
import ipmasq.log.LogEvent.LogEventKind;
import ipmasq.loop.Heartbeat;
import ipmasq.loop.Pass;
import ipmasq.net.Family;
import ipmasq.status.CounterSampler;
import ipmasq.status.Identity;
import ipmasq.status.Keeper;
import ipmasq.status.StatusHandler;
import ipmasq.status.StatusTracker;
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
import org.jspecify.annotations.Nullable;

/** The server for {@code --listen}; the first pass starts it. The loop's thread reports to it. */
public final class StatusServer implements Consumer<Pass>, Endpoint.Listener {
  private static final int CHEAP_RANGES = 1_000;

  private final InetSocketAddress where;
  private final Settings settings;
  private final ConflictWatch conflicts;
  private final Optional<FlowWatch> flows;
  private final Log log;
  private final StatusTracker tracker;
  private final Heartbeat heartbeat;
  private @Nullable CounterSampler sampler;

  public StatusServer(
      InetSocketAddress where,
      Settings settings,
      Heartbeat heartbeat,
      ConflictWatch conflicts,
      Optional<FlowWatch> flows,
      Log log) {
    Keeper keeper = settings.dryRun() ? new Keeper.DryRun() : new Keeper.Running();
    this.tracker = new StatusTracker(identity(Optional.of(Instant.now()), keeper));
    this.heartbeat = heartbeat;
    this.conflicts = conflicts;
    this.flows = flows;
    this.where = where;
    this.settings = settings;
    this.log = log;
  }

  /**
   * @param started empty if no agent was asked
   */
  public static Identity identity(Optional<Instant> started, Keeper keeper) {
    return new Identity(Version.text(), node(), started, keeper);
  }

  /** The name from the manifest, else the host's name. */
  private static Optional<String> node() {
    String told = System.getenv("NODE_NAME");
    return told != null && !told.isBlank() ? Optional.of(told) : hostname();
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
  public void accept(Pass pass) {
    tracker.accept(pass);
    if (sampler == null) {
      sampler = sampler();
      flows.ifPresentOrElse(
          watch -> watch.tell(tracker::flows),
          () -> tracker.flows(FlowEvidence.none("not sampled: --flow-samples=false")));
      StatusHandler handler =
          new StatusHandler(tracker, sampler, conflicts::known, heartbeat, Clock.systemUTC());
      Endpoint.start(where, Limits.USUAL, new AllowedHosts(names(), handler), this);
    }
    if (countsCheaply(pass)) {
      sampler.count(pass);
    }
  }

  private CounterSampler sampler() {
    Backends visited = Backends.withoutOwner(settings); // its own: a backend is used by one thread
    CounterSampler made =
        new CounterSampler(
            (latest, family) -> look(visited, latest, family),
            (latest, family, _) -> conflicts.at(latest, family),
            ConflictWatch::services,
            Clock.systemUTC(),
            System::nanoTime);
    conflicts.tell(
        (conflict, came) -> {
          tracker.conflict(Instant.now(), conflict, came);
          made.outdated();
        });
    return made;
  }

  /** Takes a millisecond or two, without a child process. */
  private static boolean countsCheaply(Pass pass) {
    return pass.backend().equals("nftables")
        && pass.config().nonMasqueradeCidrs().size() <= CHEAP_RANGES;
  }

  /** Reads the backend that the loop writes to, whatever the config leaves open. */
  private static Observation look(Backends visited, Pass pass, Family family) {
    Config config = Backends.fixed(pass.config(), pass.backend());
    return visited.target(visited.look(), config).backend().observe(family);
  }

  @Override
  public void open(InetSocketAddress at) {
    log.info(
        LogEvent.of(LogEventKind.LISTENING, "listening on http://" + name(at))
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
    log.error(LogEvent.of(LogEventKind.LISTEN_FAILED, line).with("address", name(at)));
  }

  private static String name(InetSocketAddress at) {
    String text = at.getAddress().getHostAddress();
    return (text.indexOf(':') >= 0 ? "[" + text + "]" : text) + ":" + at.getPort();
  }
}
