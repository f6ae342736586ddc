package ipmasq.app;

import ipmasq.config.Config;
import ipmasq.config.Problem;
import ipmasq.config.Reading;
import ipmasq.evidence.flows.Answers;
import ipmasq.log.Log;
import ipmasq.log.LogEvent;
import ipmasq.sync.EffectiveConfig;
import ipmasq.sync.SyncReport;
import ipmasq.sync.SyncReport.Basis;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the last good config, and puts it back in force if a new one cut pods off while it was on
 * probation. The sync thread asks which config is in force; the evidence thread condemns one. Safe
 * for use by several threads.
 */
public final class Probation implements UnaryOperator<EffectiveConfig> {
  private final StateFolder folder;
  private final Runnable resync;
  private final Log log;
  private final Clock clock;
  private final Optional<Config> inherited;
  private @Nullable EffectiveConfig good;
  private @Nullable EffectiveConfig trial;
  private Instant until = Instant.MIN;
  private Optional<StateFolder.RolledBack> rolledBack;
  private String warned = "";

  /**
   * @param resync makes the sync thread read the config again
   */
  public Probation(StateFolder folder, Runnable resync, Log log, Clock clock) {
    this.folder = folder;
    this.resync = resync;
    this.log = log;
    this.clock = clock;
    this.rolledBack = folder.rolledBack();
    Optional<Reading.Read> earlier = folder.config();
    this.inherited = earlier.map(Reading.Read::config);
    this.good =
        earlier
            .map(
                read ->
                    new EffectiveConfig(read.config(), Basis.LAST_GOOD, read.sources(), List.of()))
            .orElse(null);
  }

  /**
   * The config in force: not a file that was rolled back, nor the fallback if a good one is known.
   */
  @Override
  public synchronized EffectiveConfig apply(EffectiveConfig asked) {
    if (good == null) {
      return asked;
    }
    return switch (asked.basis()) {
      case FILE -> {
        if (rolledBack.isPresent() && rolledBack.get().hash().equals(hash(asked))) {
          String file =
              asked.sources().isEmpty() ? "" : asked.sources().getFirst().path().toString();
          Problem problem =
              new Problem(
                  Problem.Severity.ERROR,
                  file,
                  0,
                  0,
                  "rolled back: " + rolledBack.get().why(),
                  "change the file in any way to try again");
          yield new EffectiveConfig(
              good.config(), Basis.ROLLED_BACK, good.sources(), List.of(problem));
        }
        if (rolledBack.isPresent()) {
          rolledBack = Optional.empty();
          save(() -> folder.rolledBack(rolledBack));
        }
        yield asked;
      }
      case FALLBACK ->
          new EffectiveConfig(good.config(), Basis.LAST_GOOD, good.sources(), asked.problems());
      case LAST_GOOD, ROLLED_BACK -> asked;
    };
  }

  private static String hash(EffectiveConfig config) {
    return config.sources().stream()
        .map(source -> source.hash().orElse("missing"))
        .collect(Collectors.joining(" "));
  }

  /** The last good config of an earlier process. */
  Optional<Config> inherited() {
    return inherited;
  }

  /** A sync is over: its config may be new. */
  public synchronized void accept(SyncReport report) {
    if (report.basis() != Basis.FILE || !report.enforced()) {
      return;
    }
    Config config = report.config();
    Duration time = config.probation().orElse(Duration.ZERO);
    Optional<String> unusable = folder.unusable();
    if (!time.isZero() && unusable.isPresent()) {
      warn("no probation: " + unusable.get());
    }
    if (good != null && good.config().equals(config)) {
      good = report.effective();
      trial = null;
    } else if (good == null || time.isZero() || unusable.isPresent()) {
      accept(report.effective());
    } else if (trial == null || !trial.config().equals(config)) {
      trial = report.effective();
      until = clock.instant().plus(time);
      log.info(
          LogEvent.of(LogEvent.Kind.PROBATION, "the new config is on probation until " + until)
              .with("until", until));
    }
  }

  private void accept(EffectiveConfig config) {
    good = config;
    trial = null;
    if (folder.unusable().isEmpty()) {
      save(() -> folder.config(config.config()));
    }
  }

  /** Whether the config in force is on probation; one whose time is over has passed. */
  synchronized boolean isOn() {
    if (trial != null && !clock.instant().isBefore(until)) {
      log.info(LogEvent.of(LogEvent.Kind.PROBATION, "the new config passed its probation"));
      accept(trial);
    }
    return trial != null;
  }

  synchronized Optional<Instant> until() {
    return trial == null ? Optional.empty() : Optional.of(until);
  }

  /**
   * Puts the last good config back in force.
   *
   * @param why a sentence without its full stop
   */
  synchronized void rollBack(String why) {
    if (trial != null) {
      rolledBack = Optional.of(new StateFolder.RolledBack(hash(trial), why));
      trial = null;
      save(() -> folder.rolledBack(rolledBack));
      log.error(LogEvent.of(LogEvent.Kind.ROLLED_BACK, "the new config is rolled back: " + why));
      resync.run();
    }
  }

  /** The figures that a later process compares with. */
  Answers answers() {
    return folder.answers();
  }

  void save(Answers answers) {
    if (folder.unusable().isEmpty()) {
      save(() -> folder.answers(answers));
    }
  }

  private interface Write {
    void run() throws IOException;
  }

  private synchronized void save(Write write) {
    try {
      write.run();
    } catch (IOException full) {
      warn("the state folder cannot be written: " + full);
    }
  }

  private void warn(String what) {
    if (!what.equals(warned)) {
      log.warn(LogEvent.of(LogEvent.Kind.STATE_FOLDER, what));
      warned = what;
    }
  }
}
