package ipmasq.sync;

import ipmasq.backend.Failure;
import ipmasq.config.FileSnapshot;
import ipmasq.config.Problem;
import ipmasq.log.Log;
import ipmasq.log.LogEvent;
import ipmasq.log.LogEvent.Kind;
import ipmasq.net.Family;
import ipmasq.plan.Change;
import ipmasq.sync.Sweep.Swept;
import ipmasq.sync.SyncReport.Basis;
import ipmasq.sync.SyncReport.Result;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Logs what is new in each sync, once. Used by the line's thread.
 *
 * <p>A change of the rules is always logged. A problem, a failure or the choice of backend is
 * logged when it begins, changes or ends.
 */
public final class SyncLogger implements Consumer<SyncReport> {
  private final Log log;
  private @Nullable SyncReport before;
  private boolean announced;
  private String lastRepair = "";
  private int repairs;

  public SyncLogger(Log log) {
    this.log = log;
  }

  @Override
  public void accept(SyncReport report) {
    if (before == null || !before.backend().equals(report.backend())) {
      String line = "backend " + report.backend() + ": " + report.backendReason();
      log.info(
          LogEvent.of(Kind.BACKEND, line)
              .with("backend", report.backend())
              .with("backendReason", report.backendReason()));
    }
    file(report);
    fight(report);
    for (Family family : Family.values()) {
      Result result = report.results().get(family);
      if (result != null) {
        rules(family, result, report);
      }
    }
    report.sweep().results().forEach(swept -> swept(swept, report));
    if (report.flows() > 0) {
      String flows = report.flows() == 1 ? "1 flow" : report.flows() + " flows";
      log.info(
          LogEvent.of(Kind.FLOWS, "established flows follow the new rules: " + flows)
              .with("flows", report.flows()));
    }
    List<String> known = before == null ? List.of() : before.warnings();
    for (String warning : report.warnings()) {
      if (!known.contains(warning)) {
        log.warn(LogEvent.of(Kind.NODE_WARNING, warning));
      }
    }
    announce(report);
    if (!report.changed() && report.enforced()) {
      log.detail(
          2,
          () -> {
            String line = "sync (" + SyncReportJson.trigger(report) + ") found everything in place";
            return timed(
                LogEvent.of(Kind.RULES_IN_PLACE, line).with("backend", report.backend()), report);
          });
    }
    before = report;
  }

  /** What is in force, once after each start. */
  private void announce(SyncReport report) {
    if (announced || !report.enforced()) {
      return;
    }
    announced = true;
    List<String> families = new ArrayList<>();
    Map<String, Object> ranges = new LinkedHashMap<>();
    for (Family family : report.effective().families()) {
      long count =
          report.config().nonMasqueradeCidrs().stream().filter(c -> c.family() == family).count();
      families.add(family + " with " + count + (count == 1 ? " range" : " ranges"));
      ranges.put(family.toString(), count);
    }
    List<Map<String, Object>> files = new ArrayList<>();
    List<String> names = new ArrayList<>();
    for (FileSnapshot source : report.sources()) {
      source
          .hash()
          .ifPresent(
              hash -> {
                files.add(Map.of("file", source.path().toString(), "sha256", hash));
                names.add(source.path() + " (sha256 " + hash.substring(0, 12) + ")");
              });
    }
    String from =
        report.effective().keepsEarlierRules()
            ? "rules of an earlier run, because the config file is bad"
            : names.isEmpty() ? "the defaults" + missing(report) : String.join(", ", names);
    String line =
        "in force: " + String.join(", ", families) + ", " + report.backend() + ", from " + from;
    log.info(
        LogEvent.of(Kind.IN_FORCE, line)
            .with("backend", report.backend())
            .with("basis", report.basis().word())
            .with("ranges", ranges)
            .with("files", files));
  }

  private static String missing(SyncReport report) {
    return report.sources().isEmpty()
        ? ""
        : " (no config file at " + report.sources().getFirst().path() + ")";
  }

  /** One line when the fight begins, with what is being repaired, and one when it is over. */
  private void fight(SyncReport report) {
    boolean fought = before != null && before.fighting();
    if (report.fighting() && !fought) {
      String line =
          "another program keeps changing our rules"
              + (lastRepair.isEmpty() ? "" : "; the last repair: " + lastRepair)
              + "; from now on a repair waits up to 2 s";
      log.warn(LogEvent.of(Kind.FIGHT, line).with("backend", report.backend()));
    } else if (fought && !report.fighting()) {
      String line =
          "the other program has left our rules alone for a while; they were repaired "
              + repairs
              + " times meanwhile";
      log.info(
          LogEvent.of(Kind.FIGHT_OVER, line)
              .with("backend", report.backend())
              .with("repairs", repairs));
      repairs = 0;
    }
  }

  private void file(SyncReport report) {
    List<Problem> known = before == null ? List.of() : before.problems();
    for (Problem problem : report.problems()) {
      if (!known.contains(problem)) {
        LogEvent event =
            LogEvent.of(Kind.CONFIG_PROBLEM, problem.withoutSeverity())
                .with("problem", problem.fields());
        switch (problem.severity()) {
          case ERROR -> log.error(event);
          case WARNING -> log.warn(event);
        }
      }
    }
    Basis was = before == null ? Basis.FILE : before.basis();
    if (report.basis() != was) {
      boolean good = report.basis() == Basis.FILE;
      String line =
          switch (report.basis()) {
            case FILE -> "the config file is good again, and in force";
            case LAST_GOOD -> "the config file is bad: the last good one stays in force";
            case ROLLED_BACK -> "the config file was rolled back: the config before it is in force";
            case FALLBACK ->
                "the config file is bad: rules that an earlier run left are kept; where there are"
                    + " none, the defaults are in force";
          };
      Kind kind = good ? Kind.CONFIG_GOOD : Kind.CONFIG_BAD;
      LogEvent event = LogEvent.of(kind, line).with("basis", report.basis().word());
      if (good) {
        log.info(event);
      } else {
        log.warn(event);
      }
    }
  }

  private void rules(Family family, Result result, SyncReport report) {
    String backend = report.backend();
    Result was = before == null ? null : before.results().get(family);
    switch (result) {
      case Result.Failed(var failure, _) -> {
        if (!result.equals(was)) {
          String line = failure + "; tried again until it works";
          log.error(failed(Kind.RULES_FAILED, line, family, backend, failure));
        }
      }
      case Result.Changed(var changes) -> {
        String what = Change.few(changes);
        String when = SyncReportJson.trigger(report) + ", " + report.took().toMillis() + " ms";
        String line = family + " rules changed (" + when + "): " + what;
        written(
            report,
            family + " " + what,
            () -> changed(Kind.RULES_CHANGED, line, family, backend, changes, report));
      }
      case Result.Pending(var changes) -> {
        if (!result.equals(was)) {
          String when = " rules would change (" + SyncReportJson.trigger(report) + "): ";
          String line = family + when + Change.few(changes);
          log.info(changed(Kind.RULES_PENDING, line, family, backend, changes, report));
        }
      }
      case Result.Unchanged() -> {
        if (was instanceof Result.Failed) {
          String line = family + " rules are in place again";
          log.info(placed(LogEvent.of(Kind.RULES_RECOVERED, line), family, backend));
        }
      }
    }
  }

  /** What repairs a fight is not logged each time: the fight itself has been. */
  private void written(SyncReport report, String repair, Supplier<LogEvent> event) {
    if (report.why().contains(Trigger.RULES)) {
      lastRepair = repair;
    }
    if (report.fighting() && !report.why().contains(Trigger.CONFIG)) {
      repairs++;
      log.detail(1, event);
    } else {
      log.info(event.get());
    }
  }

  private void swept(Swept swept, SyncReport report) {
    Family family = swept.family();
    String backend = swept.backend();
    String where = family + " rules of ours in " + backend;
    switch (swept.result()) {
      case Result.Unchanged() -> {}
      case Result.Pending(var changes) -> {
        if (before == null || !before.sweep().results().contains(swept)) {
          String line = where + " would be removed: " + Change.few(changes);
          log.info(changed(Kind.SWEEP_PENDING, line, family, backend, changes, report));
        }
      }
      case Result.Changed(var changes) -> {
        String what = Change.few(changes);
        String line = where + " removed (" + SyncReportJson.trigger(report) + "): " + what;
        written(
            report,
            where + " removed: " + what,
            () -> changed(Kind.SWEPT, line, family, backend, changes, report));
      }
      case Result.Failed(var failure, _) -> {
        if (before == null || !before.sweep().results().contains(swept)) {
          String line = where + " cannot be removed, and act on packets too: " + failure;
          log.error(failed(Kind.SWEEP_FAILED, line, family, backend, failure));
        }
      }
    }
  }

  private static LogEvent changed(
      Kind kind,
      String line,
      Family family,
      String backend,
      List<Change> changes,
      SyncReport report) {
    LogEvent event =
        placed(LogEvent.of(kind, line), family, backend)
            .with("added", Change.count(changes, Change.Kind.ADD))
            .with("removed", Change.count(changes, Change.Kind.REMOVE))
            .with("repaired", Change.count(changes, Change.Kind.REPAIR));
    return timed(event, report)
        .with("changes", SyncReportJson.changes(family, backend, Change.named(changes)));
  }

  private static LogEvent failed(
      Kind kind, String line, Family family, String backend, Failure failure) {
    return placed(LogEvent.of(kind, line), family, backend)
        .with("failure", SyncReportJson.failure(family, backend, failure));
  }

  private static LogEvent placed(LogEvent event, Family family, String backend) {
    return event.with("family", family).with("backend", backend);
  }

  private static LogEvent timed(LogEvent event, SyncReport report) {
    return event
        .with("trigger", SyncReportJson.trigger(report))
        .with("duration", SyncReportJson.duration(report.took()));
  }
}
