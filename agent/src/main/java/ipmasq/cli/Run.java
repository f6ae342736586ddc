package ipmasq.cli;

import ipmasq.app.ConflictWatch;
import ipmasq.app.FlowWatch;
import ipmasq.app.Probation;
import ipmasq.app.StateFolder;
import ipmasq.app.StatusServer;
import ipmasq.app.Version;
import ipmasq.config.ConfigFollower;
import ipmasq.config.FlagDefaults;
import ipmasq.evidence.EvidenceThread;
import ipmasq.http.Listen;
import ipmasq.log.Log;
import ipmasq.log.Log.Format;
import ipmasq.log.LogEvent;
import ipmasq.log.LogEvent.Kind;
import ipmasq.log.LogQueue;
import ipmasq.net.Family;
import ipmasq.sync.Agent;
import ipmasq.sync.ConfigWatch;
import ipmasq.sync.Heartbeat;
import ipmasq.sync.Sweep.Swept;
import ipmasq.sync.Sync;
import ipmasq.sync.SyncLogger;
import ipmasq.sync.SyncReport;
import ipmasq.sync.SyncReport.Result;
import ipmasq.sync.SyncReportJson;
import ipmasq.sync.Trigger;
import ipmasq.thread.Daemon;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * {@code run}: enforces the config until SIGTERM or SIGINT. The rules stay, unless told otherwise.
 */
final class Run {
  /** How long a running sync may take to end after the signal. */
  private static final int GRACE_SECONDS = 5;

  private static final String STATE = "/var/lib/ip-masq-agent";

  private final CommandContext context;
  private final CommandLine line;
  private final boolean dryRun;
  private final Log log;
  private final Trigger.Queue triggers = new Trigger.Queue();

  private Run(CommandContext context, Log log) {
    this.context = context;
    this.line = context.line();
    this.dryRun = line.isOn(Flag.DRY_RUN);
    this.log = log;
  }

  static int run(CommandContext context) {
    Clock clock = Clock.systemUTC();
    Format format = context.line().isJson(Flag.LOG_FORMAT) ? Format.JSON : Format.TEXT;
    LogQueue lines = new LogQueue(context.err(), count -> Log.dropped(clock, format, count));
    int verbosity = context.line().number(Flag.VERBOSITY).orElse(0);
    Run run = new Run(context, new Log(lines, clock, format, verbosity));
    CountDownLatch ended = new CountDownLatch(1);
    try {
      run.start();
      if (run.takesSignals(ended)) {
        run.keep(clock);
      }
      return Main.OK;
    } catch (InterruptedException interrupted) {
      return Main.FAILED;
    } finally {
      lines.close();
      ended.countDown();
    }
  }

  /** Not if it was told to end before it had begun. */
  private boolean takesSignals(CountDownLatch ended) {
    try {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(ended), "stop"));
      return true;
    } catch (IllegalStateException toldToEnd) {
      return false;
    }
  }

  /** Runs when the JVM shuts down. Halting sets the exit code: 0, not 143. */
  private void stop(CountDownLatch ended) {
    triggers.post(Trigger.STOP);
    try {
      boolean inTime = ended.await(GRACE_SECONDS, TimeUnit.SECONDS);
      Runtime.getRuntime().halt(inTime ? Main.OK : Main.FAILED);
    } catch (InterruptedException interrupted) {
      Runtime.getRuntime().halt(Main.FAILED);
    }
  }

  private void start() {
    log.info(
        LogEvent.of(Kind.START, "ip-masq-agent " + Version.text() + " starts")
            .with("version", Version.text()));
    for (Flag flag : line.flags().keySet()) {
      if (Flag.KLOG.contains(flag)) {
        String nothing = flag + " does nothing here: the log goes to stderr";
        log.info(LogEvent.of(Kind.FLAG_IGNORED, nothing).with("flag", flag.name()));
      }
    }
    if (dryRun) {
      String nothing = "dry run: nothing is written, and what would change is logged";
      log.info(LogEvent.of(Kind.DRY_RUN, nothing));
    }
  }

  /** Wires everything, and runs until told to stop. */
  private void keep(Clock clock) throws InterruptedException {
    try (ConfigWatch watch =
        ConfigWatch.start(
            context.paths(),
            triggers,
            warning -> log.warn(LogEvent.of(Kind.CONFIG_UNWATCHED, warning)))) {
      EvidenceThread evidence = EvidenceThread.start(this::evidenceFailed);
      // If its files cannot be opened later, for want of descriptors, the JVM never tries again.
      evidence.ask(() -> MessageDigest.getInstance("SHA-256"));
      Heartbeat heartbeat = new Heartbeat(System::nanoTime, context.backends()::waiting);
      StateFolder folder =
          new StateFolder(
              Path.of(line.text(Flag.STATE_DIR).orElse(STATE)),
              !dryRun,
              () -> FlagDefaults.none().on(context.backends().look().auto().backend()));
      Probation probation = new Probation(folder, () -> triggers.post(Trigger.CONFIG), log, clock);
      probation.inherited().ifPresent(it -> context.backends().hadChain(it.masqChain()));
      new Agent(
              sync(watch, probation),
              triggers,
              line.duration(Flag.WATCH_INTERVAL, Duration.ofSeconds(1)),
              watch::overdue,
              heartbeat,
              listeners(evidence, heartbeat, probation))
          .run();
    }
    boolean removes = line.isOn(Flag.CLEANUP_ON_EXIT) && !dryRun;
    if (removes) {
      cleanUp();
    }
    boolean stay = !removes && !dryRun;
    log.info(LogEvent.of(Kind.STOP, "ip-masq-agent ends" + (stay ? "; its rules stay" : "")));
  }

  /** Syncs with the config as it is at the time. */
  private Sync sync(ConfigWatch watch, Probation probation) {
    ConfigFollower follower = new ConfigFollower();
    return context
        .backends()
        .sync(
            node ->
                watch
                    .files()
                    .map(files -> follower.read(files, context.flags(node)))
                    .orElseGet(
                        () -> ConfigFollower.noAnswer(watch.reading(), ConfigWatch.PATIENCE)),
            line.defaults().config(),
            !dryRun,
            probation);
  }

  /** Those who hear of each sync, in order. The rules come first; everything else starts then. */
  private Consumer<SyncReport> listeners(
      EvidenceThread evidence, Heartbeat heartbeat, Probation probation) {
    ConflictWatch conflicts = new ConflictWatch(evidence, log);
    Optional<FlowWatch> flows =
        line.text(Flag.FLOW_SAMPLES).map(Flag::isTrue).orElse(true)
            ? Optional.of(new FlowWatch(heartbeat, evidence, probation, log))
            : Optional.empty();
    Consumer<SyncReport> listeners =
        new SyncLogger(log)
            .andThen(_ -> retryThreads())
            .andThen(conflicts)
            .andThen(dryRun ? _ -> {} : probation::accept);
    Consumer<SyncReport> server =
        line.text(Flag.LISTEN)
            .flatMap(Listen::parse)
            .<Consumer<SyncReport>>map(
                where ->
                    new StatusServer(where, dryRun, line.cni(), heartbeat, conflicts, flows, log))
            .orElse(_ -> {});
    return listeners.andThen(server).andThen(report -> flows.ifPresent(it -> it.accept(report)));
  }

  private void evidenceFailed(Throwable bug) {
    String line = "gathering evidence failed: " + bug + "; please report this";
    log.error(LogEvent.of(Kind.FLOW_SAMPLE_FAILED, line));
  }

  private void retryThreads() {
    List<String> refused = Daemon.retry();
    if (!refused.isEmpty()) {
      log.error(
          LogEvent.of(
              Kind.THREAD_REFUSED,
              "the kernel refuses threads ("
                  + String.join(", ", refused)
                  + "): is the limit of processes reached? Tried again at the next sync"));
    }
  }

  private void cleanUp() {
    for (Swept swept : Cleanup.remove(context, line.defaults().config(), true)) {
      Family family = swept.family();
      String backend = swept.backend();
      if (swept.result() instanceof Result.Changed(var changes)) {
        log.info(
            LogEvent.of(Kind.RULES_REMOVED, family + " rules removed (" + backend + ")")
                .with("family", family)
                .with("backend", backend)
                .with("removed", changes.size()));
      } else if (swept.result() instanceof Result.Failed(var failure, _)) {
        log.error(
            LogEvent.of(Kind.REMOVE_FAILED, failure.toString())
                .with("family", family)
                .with("backend", backend)
                .with("failure", SyncReportJson.failure(family, backend, failure)));
      }
    }
  }
}
