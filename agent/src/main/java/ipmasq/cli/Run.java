package ipmasq.cli;

import ipmasq.app.ConfigWatchers;
import ipmasq.app.ConflictWatch;
import ipmasq.app.FlowWatch;
import ipmasq.app.Settings;
import ipmasq.app.StatusServer;
import ipmasq.app.Version;
import ipmasq.backend.Backend;
import ipmasq.log.Log;
import ipmasq.log.LogEvent;
import ipmasq.log.LogEvent.LogEventKind;
import ipmasq.log.LogQueue;
import ipmasq.loop.Agent;
import ipmasq.loop.Enforcement;
import ipmasq.loop.Heartbeat;
import ipmasq.loop.Pass;
import ipmasq.loop.Pass.Result;
import ipmasq.loop.PassJson;
import ipmasq.loop.PassLogger;
import ipmasq.loop.Trigger;
import ipmasq.loop.Triggers;
import ipmasq.net.Family;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
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

  private Run() {}

  static int run(CommandContext context) {
    Settings settings = context.settings();
    LogQueue lines = context.logQueue();
    Log log = context.log(lines);
    Thread.ofPlatform().daemon().name("digests").start(Run::digests);
    log.info(
        LogEvent.of(LogEventKind.START, "ip-masq-agent " + Version.text() + " starts")
            .with("version", Version.text()));
    for (String flag : settings.ignoredFlags()) {
      log.info(
          LogEvent.of(
                  LogEventKind.FLAG_IGNORED,
                  "--" + flag + " does nothing here: the log goes to stderr")
              .with("flag", flag));
    }
    if (settings.dryRun()) {
      log.info(
          LogEvent.of(
              LogEventKind.DRY_RUN, "dry run: nothing is written, and what would change is said"));
    }
    Triggers triggers = new Triggers();
    CountDownLatch ended = new CountDownLatch(1);
    try {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(triggers, ended), "stop"));
    } catch (IllegalStateException toldToEnd) {
      lines.close();
      return Main.OK; // before it had begun
    }
    try {
      ConfigWatchers watchers = new ConfigWatchers(settings.configs(), triggers, log);
      Consumer<Pass> logger = new PassLogger(log);
      // The rules come first; everything else can wait.
      ConflictWatch conflicts = new ConflictWatch(log);
      Consumer<Pass> passes =
          logger
              .andThen(pass -> absence(pass, settings, log))
              .andThen(pass -> idleFlags(pass, settings, log))
              .andThen(watchers::start)
              .andThen(conflicts);
      Heartbeat heartbeat = new Heartbeat(System::nanoTime);
      Optional<FlowWatch> flows =
          settings.flowSamples() ? Optional.of(new FlowWatch(heartbeat, log)) : Optional.empty();
      if (settings.listen().isPresent()) {
        passes =
            passes.andThen(
                new StatusServer(
                    settings.listen().get(), settings, heartbeat, conflicts, flows, log));
      }
      if (flows.isPresent()) {
        passes = passes.andThen(flows.get());
      }
      new Agent(
              context.sync(() -> triggers.post(Trigger.CONFIG)),
              triggers,
              settings.watchInterval(),
              heartbeat,
              passes)
          .run();
      if (settings.cleanupOnExit() && !settings.dryRun()) {
        cleanUp(context, log);
      }
      boolean stay = !settings.cleanupOnExit() && !settings.dryRun();
      log.info(
          LogEvent.of(LogEventKind.STOP, "ip-masq-agent ends" + (stay ? "; its rules stay" : "")));
      return Main.OK;
    } catch (InterruptedException interrupted) {
      return Main.FAILED;
    } finally {
      lines.close();
      ended.countDown();
    }
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

  /** A missing default config is worth one line, unless the command line named the file. */
  private static void absence(Pass pass, Settings settings, Log log) {
    if (pass.why().contains(Trigger.START)
        && !settings.configGiven()
        && pass.problems().isEmpty()
        && pass.sources().stream().allMatch(source -> source.bytes().isEmpty())) {
      String file = settings.configs().getFirst().toString();
      log.info(
          LogEvent.of(
                  LogEventKind.CONFIG_MISSING,
                  "there is no config file at " + file + ": the defaults hold")
              .with("file", file));
    }
  }

  private static void idleFlags(Pass pass, Settings settings, Log log) {
    if (pass.why().contains(Trigger.START)) {
      settings
          .idle(pass.backend())
          .ifPresent(idle -> log.warn(LogEvent.of(LogEventKind.FLAG_IGNORED, idle)));
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
                          LogEventKind.RULES_REMOVED,
                          family + " rules removed (" + backend.name() + ")")
                      .with("family", family)
                      .with("backend", backend.name())
                      .with("removed", changes.size()));
          case Result.Failed(var failure, _) ->
              log.error(
                  LogEvent.of(LogEventKind.REMOVE_FAILED, failure.toString())
                      .with("family", family)
                      .with("backend", backend.name())
                      .with("failure", PassJson.failure(family, backend.name(), failure)));
        }
      }
    }
  }
}
