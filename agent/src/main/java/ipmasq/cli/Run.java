package ipmasq.cli;

import ipmasq.app.ConfigWatchers;
import ipmasq.app.ConflictWatch;
import ipmasq.app.Settings;
import ipmasq.app.StatusServer;
import ipmasq.app.Version;
import ipmasq.backend.Backend;
import ipmasq.log.Log;
import ipmasq.log.LogQueue;
import ipmasq.loop.Agent;
import ipmasq.loop.Enforcement;
import ipmasq.loop.Heartbeat;
import ipmasq.loop.Pass;
import ipmasq.loop.Pass.Result;
import ipmasq.loop.PassLogger;
import ipmasq.loop.Trigger;
import ipmasq.loop.Triggers;
import ipmasq.net.Family;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * {@code run}: enforces the config until SIGTERM or SIGINT. The rules stay, unless told otherwise.
 */
final class Run {
  /** How long a pass that is under way may take to end after the signal. */
  private static final int GRACE_SECONDS = 5;

  private Run() {}

  static int run(CommandContext context) {
    Settings settings = context.settings();
    LogQueue lines = context.logQueue();
    Log log = context.log(lines);
    log.info("ip-masq-agent " + Version.text() + " starts");
    for (String flag : settings.ignoredFlags()) {
      log.info("--" + flag + " does nothing here: the log goes to stderr");
    }
    if (settings.dryRun()) {
      log.info("dry run: nothing is written, and what would change is said");
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
      // The rules come before anything that can wait.
      ConflictWatch conflicts = new ConflictWatch(log);
      Consumer<Pass> passes =
          logger
              .andThen(pass -> absence(pass, settings, log))
              .andThen(pass -> idleFlags(pass, settings, log))
              .andThen(watchers::start)
              .andThen(conflicts);
      Heartbeat heartbeat = new Heartbeat(System::nanoTime);
      if (settings.listen().isPresent()) {
        passes =
            passes.andThen(
                new StatusServer(settings.listen().get(), settings, heartbeat, conflicts, log));
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
      log.info("ip-masq-agent ends" + (stay ? "; its rules stay" : ""));
      return Main.OK;
    } catch (InterruptedException interrupted) {
      return Main.FAILED;
    } finally {
      lines.close();
      ended.countDown();
    }
  }

  /** That nobody has written a config is worth one line, unless somebody said where it is. */
  private static void absence(Pass pass, Settings settings, Log log) {
    if (pass.why().contains(Trigger.START)
        && !settings.configGiven()
        && pass.problems().isEmpty()
        && pass.sources().stream().allMatch(source -> source.bytes().isEmpty())) {
      log.info(
          "there is no config file at " + settings.configs().getFirst() + ": the defaults hold");
    }
  }

  private static void idleFlags(Pass pass, Settings settings, Log log) {
    if (pass.why().contains(Trigger.START)) {
      settings.idle(pass.backend()).ifPresent(log::warn);
    }
  }

  /** Runs when the JVM was told to end. Halting makes the exit code ours: 0, not 143. */
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
          case Result.Changed _ -> log.info(family + " rules removed (" + backend.name() + ")");
          case Result.Failed(var failure) -> log.error(failure.toString());
        }
      }
    }
  }
}
