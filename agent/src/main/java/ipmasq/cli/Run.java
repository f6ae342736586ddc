package ipmasq.cli;

import ipmasq.app.ConflictWatch;
import ipmasq.app.FlowWatch;
import ipmasq.app.Probation;
import ipmasq.app.StateFolder;
import ipmasq.app.StatusServer;
import ipmasq.app.Version;
import ipmasq.backend.Backend;
import ipmasq.config.ConfigFollower;
import ipmasq.config.ConfigPaths.IfMissing;
import ipmasq.config.FlagDefaults;
import ipmasq.evidence.EvidenceThread;
import ipmasq.log.Log;
import ipmasq.log.Log.Format;
import ipmasq.log.LogEvent;
import ipmasq.log.LogQueue;
import ipmasq.net.Family;
import ipmasq.sync.Agent;
import ipmasq.sync.ConfigWatch;
import ipmasq.sync.Enforcement;
import ipmasq.sync.Heartbeat;
import ipmasq.sync.Sync;
import ipmasq.sync.SyncLogger;
import ipmasq.sync.SyncReport;
import ipmasq.sync.SyncReport.Result;
import ipmasq.sync.SyncReportJson;
import ipmasq.sync.Trigger;
import ipmasq.sync.Triggers;
import ipmasq.thread.Daemon;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
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
  /** How long a running pass may take to end after the signal. */
  private static final int GRACE_SECONDS = 5;

  private static final String STATE = "/var/lib/ip-masq-agent";

  private Run() {}

  static int run(CommandContext context) {
    Settings settings = context.settings();
    CommandLine line = settings.line();
    Clock clock = Clock.systemUTC();
    Format format = line.isJson(Flag.LOG_FORMAT) ? Format.JSON : Format.TEXT;
    LogQueue lines = new LogQueue(context.err(), count -> Log.dropped(clock, format, count));
    Log log = new Log(lines, clock, format, line.number(Flag.VERBOSITY).orElse(0));
    Thread.ofPlatform().daemon().name("digests").start(Run::digests);
    log.info(
        LogEvent.of(LogEvent.Kind.START, "ip-masq-agent " + Version.text() + " starts")
            .with("version", Version.text()));
    for (Flag flag : line.flags().keySet()) {
      if (Flag.KLOG.contains(flag)) {
        log.info(
            LogEvent.of(
                    LogEvent.Kind.FLAG_IGNORED, flag + " does nothing here: the log goes to stderr")
                .with("flag", flag.name()));
      }
    }
    if (settings.dryRun()) {
      log.info(
          LogEvent.of(
              LogEvent.Kind.DRY_RUN,
              "dry run: nothing is written, and what would change is logged"));
    }
    Triggers triggers = new Triggers();
    CountDownLatch ended = new CountDownLatch(1);
    try {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(triggers, ended), "stop"));
    } catch (IllegalStateException toldToEnd) {
      lines.close();
      return Main.OK; // before it had begun
    }
    try (ConfigWatch watch =
        ConfigWatch.start(
            settings.paths(),
            triggers,
            warning -> log.warn(LogEvent.of(LogEvent.Kind.CONFIG_UNWATCHED, warning)))) {
      Consumer<SyncReport> logger = new SyncLogger(log);
      // The rules come first; everything else can wait.
      EvidenceThread evidence = evidence(log);
      ConflictWatch conflicts = new ConflictWatch(evidence, log);
      Consumer<SyncReport> passes =
          logger
              .andThen(pass -> absence(pass, settings, log))
              .andThen(_ -> retryThreads(log))
              .andThen(conflicts);
      Heartbeat heartbeat = new Heartbeat(System::nanoTime, context.backends()::waiting);
      Probation probation =
          new Probation(
              new StateFolder(
                  Path.of(line.text(Flag.STATE_DIR).orElse(STATE)),
                  () -> FlagDefaults.none().on(context.backends().look().auto().backend())),
              () -> triggers.post(Trigger.CONFIG),
              log,
              clock);
      Optional<FlowWatch> flows =
          line.isOn(Flag.FLOW_SAMPLES, true)
              ? Optional.of(new FlowWatch(heartbeat, evidence, probation, log))
              : Optional.empty();
      if (!settings.dryRun()) {
        passes = passes.andThen(probation::accept);
      }
      if (settings.listen().isPresent()) {
        passes =
            passes.andThen(
                new StatusServer(
                    settings.listen().get(),
                    settings.dryRun(),
                    settings.cni(),
                    heartbeat,
                    conflicts,
                    flows,
                    log));
      }
      if (flows.isPresent()) {
        passes = passes.andThen(flows.get());
      }
      new Agent(
              sync(context, watch, probation),
              triggers,
              line.duration(Flag.WATCH_INTERVAL, Duration.ofSeconds(1)),
              watch::overdue,
              heartbeat,
              passes)
          .run();
      boolean stay = !line.isOn(Flag.CLEANUP_ON_EXIT) && !settings.dryRun();
      if (!stay && !settings.dryRun()) {
        cleanUp(context, log);
      }
      log.info(
          LogEvent.of(LogEvent.Kind.STOP, "ip-masq-agent ends" + (stay ? "; its rules stay" : "")));
      return Main.OK;
    } catch (InterruptedException interrupted) {
      return Main.FAILED;
    } finally {
      lines.close();
      ended.countDown();
    }
  }

  /** Syncs with the config as it is at the time. */
  private static Sync sync(CommandContext context, ConfigWatch watch, Probation probation) {
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
            context.settings().config(),
            !context.settings().dryRun(),
            probation);
  }

  /**
   * Loads SHA-256 now: if its files cannot be opened later, for want of descriptors, the JVM never
   * tries again. On a thread of its own, so that the first pass does not wait for it.
   */
  private static void digests() {
    try {
      MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  private static EvidenceThread evidence(Log log) {
    return EvidenceThread.start(
        bug ->
            log.error(
                LogEvent.of(
                    LogEvent.Kind.FLOW_SAMPLE_FAILED,
                    "gathering evidence failed: " + bug + "; please report this")));
  }

  private static void retryThreads(Log log) {
    List<String> refused = Daemon.retry();
    if (!refused.isEmpty()) {
      log.error(
          LogEvent.of(
              LogEvent.Kind.THREAD_REFUSED,
              "the kernel refuses threads ("
                  + String.join(", ", refused)
                  + "): is the limit of processes reached? Tried again at the next sync"));
    }
  }

  /** A missing default config is worth one line, unless the command line named the file. */
  private static void absence(SyncReport pass, Settings settings, Log log) {
    if (pass.why().contains(Trigger.START)
        && settings.ifMissing() == IfMissing.DEFAULTS
        && pass.problems().isEmpty()
        && pass.sources().stream().allMatch(source -> source.bytes().isEmpty())) {
      String file = settings.paths().paths().getFirst().toString();
      log.info(
          LogEvent.of(
                  LogEvent.Kind.CONFIG_MISSING,
                  "there is no config file at " + file + ": the default list is in use")
              .with("file", file));
    }
  }

  /** Runs when the JVM shuts down. Halting sets the exit code: 0, not 143. */
  private static void stop(Triggers triggers, CountDownLatch ended) {
    triggers.post(Trigger.STOP);
    try {
      boolean inTime = ended.await(GRACE_SECONDS, TimeUnit.SECONDS);
      Runtime.getRuntime().halt(inTime ? Main.OK : Main.FAILED);
    } catch (InterruptedException interrupted) {
      Runtime.getRuntime().halt(Main.FAILED);
    }
  }

  private static void cleanUp(CommandContext context, Log log) {
    for (Backend backend : context.backends().all(context.settings().config())) {
      for (Family family : Family.values()) {
        switch (new Enforcement(true).remove(backend, family)) {
          case Result.Unchanged(), Result.Pending _ -> {}
          case Result.Changed(var changes) ->
              log.info(
                  LogEvent.of(
                          LogEvent.Kind.RULES_REMOVED,
                          family + " rules removed (" + backend.name() + ")")
                      .with("family", family)
                      .with("backend", backend.name())
                      .with("removed", changes.size()));
          case Result.Failed(var failure, _) ->
              log.error(
                  LogEvent.of(LogEvent.Kind.REMOVE_FAILED, failure.toString())
                      .with("family", family)
                      .with("backend", backend.name())
                      .with("failure", SyncReportJson.failure(family, backend.name(), failure)));
        }
      }
    }
  }
}
