package ipmasq.app;

import ipmasq.config.Config;
import ipmasq.config.Key;
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
  private Optional<EffectiveConfig> good;
  private Optional<EffectiveConfig> trial = Optional.empty();
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
        earlier.map(
            it -> new EffectiveConfig(it.config(), Basis.LAST_GOOD, it.sources(), List.of()));
  }

  /**
   * The config in force: not a file that was rolled back, nor the fallback if a good one is known.
   */
  @Override
  public synchronized EffectiveConfig apply(EffectiveConfig asked) {
    if (good.isEmpty()) {
      return asked;
    }
    return switch (asked.basis()) {
      case FILE -> {
        if (rolledBack.isPresent() && rolledBack.get().hash().equals(hash(asked))) {
          yield lastGood(Basis.ROLLED_BACK, List.of(problem(asked, rolledBack.get().why())));
        }
        if (rolledBack.isPresent()) {
          rolledBack = Optional.empty();
          write(folder::tryAgain);
        }
        yield asked;
      }
      case FALLBACK -> lastGood(Basis.LAST_GOOD, asked.problems());
      case LAST_GOOD, ROLLED_BACK -> asked;
    };
  }

  private EffectiveConfig lastGood(Basis basis, List<Problem> problems) {
    EffectiveConfig it = good.orElseThrow();
    return new EffectiveConfig(it.config(), basis, it.sources(), problems);
  }

  private static Problem problem(EffectiveConfig asked, String why) {
    return new Problem(
        Problem.Severity.ERROR,
        asked.sources().stream().map(file -> file.path().toString()).findFirst().orElse(""),
        0,
        0,
        "rolled back: " + why,
        "change the file in any way to try again");
  }

  private static String hash(EffectiveConfig config) {
    return config.sources().stream()
        .map(source -> source.hash().orElse("missing"))
        .collect(Collectors.joining(" "));
  }

  /** A sync is over: its config may be new. */
  public synchronized void accept(SyncReport report) {
    if (report.basis() != Basis.FILE || !report.enforced()) {
      return;
    }
    Config config = report.config();
    Duration time = config.of(Key.PROBATION).orElse(Duration.ZERO);
    Optional<String> unusable = folder.unusable();
    if (!time.isZero() && unusable.isPresent()) {
      warn("no probation: " + unusable.get());
    }
    if (good.filter(it -> it.config().equals(config)).isPresent()) {
      good = Optional.of(report.effective());
      trial = Optional.empty();
    } else if (good.isEmpty() || time.isZero() || unusable.isPresent()) {
      accept(report.effective());
    } else if (trial.filter(it -> it.config().equals(config)).isEmpty()) {
      trial = Optional.of(report.effective());
      until = clock.instant().plus(time);
      log.info(
          LogEvent.of(LogEvent.Kind.PROBATION, "the new config is on probation until " + until)
              .with("until", until));
    }
  }

  private void accept(EffectiveConfig config) {
    good = Optional.of(config);
    trial = Optional.empty();
    if (folder.unusable().isEmpty()) {
      write(() -> folder.config(config.config()));
    }
  }

  /** Until when the config in force is on probation; one whose time is over has passed. */
  synchronized Optional<Instant> until() {
    if (trial.isPresent() && !clock.instant().isBefore(until)) {
      log.info(LogEvent.of(LogEvent.Kind.PROBATION, "the new config passed its probation"));
      accept(trial.get());
    }
    return trial.map(_ -> until);
  }

  /**
   * Puts the last good config back in force.
   *
   * @param why a sentence without its full stop
   */
  synchronized void rollBack(String why) {
    if (trial.isPresent()) {
      StateFolder.RolledBack file = new StateFolder.RolledBack(hash(trial.get()), why);
      rolledBack = Optional.of(file);
      trial = Optional.empty();
      write(() -> folder.rolledBack(file));
      log.error(LogEvent.of(LogEvent.Kind.ROLLED_BACK, "the new config is rolled back: " + why));
      resync.run();
    }
  }

  /** The last good config of an earlier process. */
  public Optional<Config> inherited() {
    return inherited;
  }

  /** The figures that a later process compares with. */
  Answers answers() {
    return folder.answers();
  }

  /** Keeps the figures, unless they are those of a config that is not accepted yet. */
  synchronized void save(Answers answers) {
    if (until().isEmpty() && folder.unusable().isEmpty()) {
      write(() -> folder.answers(answers));
    }
  }

  private interface Write {
    void run() throws IOException;
  }

  private void write(Write write) {
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
