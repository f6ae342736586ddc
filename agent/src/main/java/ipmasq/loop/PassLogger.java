package ipmasq.loop;

import ipmasq.backend.Failure;
import ipmasq.config.Problem;
import ipmasq.log.Log;
import ipmasq.log.LogEvent;
import ipmasq.log.LogEvent.LogEventKind;
import ipmasq.loop.Pass.Basis;
import ipmasq.loop.Pass.Result;
import ipmasq.loop.Sweep.Swept;
import ipmasq.net.Family;
import ipmasq.plan.Change;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Logs what is new in each pass, once. Used by the loop's thread.
 *
 * <p>A change of the rules is always logged. A problem, a failure or the choice of backend is
 * logged when it begins, changes or ends.
 */
public final class PassLogger implements Consumer<Pass> {
  private final Log log;
  private @Nullable Pass before;
  private String lastRepair = "";
  private int repairs;
  private final Map<Family, List<Change>> pending = new EnumMap<>(Family.class);
  private final Map<String, Failure> stale = new HashMap<>();
  private final Map<Family, Failure> failing = new EnumMap<>(Family.class);

  public PassLogger(Log log) {
    this.log = log;
  }

  @Override
  public void accept(Pass pass) {
    if (before == null || !before.backend().equals(pass.backend())) {
      log.info(
          LogEvent.of(
                  LogEventKind.BACKEND, "backend " + pass.backend() + ": " + pass.backendReason())
              .with("backend", pass.backend())
              .with("backendReason", pass.backendReason()));
    }
    file(pass);
    fight(pass);
    for (Family family : Family.values()) {
      Result result = pass.results().get(family);
      if (result != null) {
        rules(family, result, pass);
      }
    }
    pass.sweep().results().forEach(swept -> swept(swept, pass));
    if (pass.flows() > 0) {
      String line =
          pass.flows() == 1
              ? "1 flow under way follows the new rules"
              : pass.flows() + " flows under way follow the new rules";
      log.info(LogEvent.of(LogEventKind.FLOWS, line).with("flows", pass.flows()));
    }
    List<String> known = before == null ? List.of() : before.warnings();
    for (String warning : pass.warnings()) {
      if (!known.contains(warning)) {
        log.warn(LogEvent.of(LogEventKind.NODE_WARNING, warning));
      }
    }
    if (!pass.changed() && pass.enforced()) {
      log.detail(
          2,
          () -> {
            String line = "pass (" + PassJson.trigger(pass) + ") found everything in place";
            return ofPass(
                LogEvent.of(LogEventKind.RULES_IN_PLACE, line).with("backend", pass.backend()),
                pass);
          });
    }
    before = pass;
  }

  /** One line when the fight begins, with what is being repaired, and one when it is over. */
  private void fight(Pass pass) {
    boolean fought = before != null && before.fighting();
    if (pass.fighting() && !fought) {
      String line =
          "another program keeps changing our rules"
              + (lastRepair.isEmpty() ? "" : "; the last repair: " + lastRepair)
              + "; from now on a repair waits up to 2 s";
      log.warn(LogEvent.of(LogEventKind.FIGHT, line).with("backend", pass.backend()));
    } else if (fought && !pass.fighting()) {
      String line =
          "the other program has left our rules alone for a while; they were repaired "
              + repairs
              + " times meanwhile";
      log.info(
          LogEvent.of(LogEventKind.FIGHT_OVER, line)
              .with("backend", pass.backend())
              .with("repairs", repairs));
      repairs = 0;
    }
  }

  private void file(Pass pass) {
    List<Problem> known = before == null ? List.of() : before.problems();
    for (Problem problem : pass.problems()) {
      if (!known.contains(problem)) {
        LogEvent event =
            LogEvent.of(LogEventKind.CONFIG_PROBLEM, problem.toString())
                .with("problem", problem.fields());
        switch (problem.severity()) {
          case ERROR -> log.error(event);
          case WARNING -> log.warn(event);
        }
      }
    }
    Basis was = before == null ? Basis.FILE : before.basis();
    if (pass.basis() == was) {
      return;
    }
    switch (pass.basis()) {
      case FILE ->
          log.info(
              onBasis(
                  LogEventKind.CONFIG_GOOD, "the config file is good again, and in force", pass));
      case LAST_GOOD ->
          log.warn(
              onBasis(
                  LogEventKind.CONFIG_BAD,
                  "the config file is bad: the last good one stays in force",
                  pass));
      case FALLBACK ->
          log.warn(
              onBasis(
                  LogEventKind.CONFIG_BAD,
                  "the config file is bad: rules that an earlier run left are kept; where there"
                      + " are none, the defaults are in force",
                  pass));
    }
  }

  private static LogEvent onBasis(LogEventKind kind, String line, Pass pass) {
    return LogEvent.of(kind, line).with("basis", pass.basis().word());
  }

  private void rules(Family family, Result result, Pass pass) {
    switch (result) {
      case Result.Failed(var failure, _) -> {
        if (!failure.equals(failing.put(family, failure))) {
          log.error(
              failed(
                  LogEventKind.RULES_FAILED,
                  failure + "; tried again until it works",
                  family,
                  pass.backend(),
                  failure));
        }
      }
      case Result.Changed(var changes) -> {
        failing.remove(family);
        String line =
            family
                + " rules changed ("
                + PassJson.trigger(pass)
                + ", "
                + pass.took().toMillis()
                + " ms): "
                + Change.few(changes);
        written(
            pass,
            family + " " + Change.few(changes),
            () -> changed(LogEventKind.RULES_CHANGED, line, family, pass.backend(), changes, pass));
      }
      case Result.Pending(var changes) -> {
        if (!changes.equals(pending.put(family, changes))) {
          String line =
              family
                  + " rules would change ("
                  + PassJson.trigger(pass)
                  + "): "
                  + Change.few(changes);
          log.info(
              changed(LogEventKind.RULES_PENDING, line, family, pass.backend(), changes, pass));
        }
      }
      case Result.Unchanged() -> {
        pending.remove(family);
        if (failing.remove(family) != null) {
          log.info(
              inPlace(
                  LogEvent.of(LogEventKind.RULES_RECOVERED, family + " rules are in place again"),
                  family,
                  pass.backend()));
        }
      }
    }
  }

  /** What repairs a fight is not logged each time: the fight itself has been. */
  private void written(Pass pass, String repair, Supplier<LogEvent> event) {
    if (pass.why().contains(Trigger.RULES)) {
      lastRepair = repair;
    }
    if (pass.fighting() && !pass.why().contains(Trigger.CONFIG)) {
      repairs++;
      log.detail(1, event);
    } else {
      log.info(event.get());
    }
  }

  private void swept(Swept swept, Pass pass) {
    String where = swept.family() + " rules of ours in " + swept.backend();
    switch (swept.result()) {
      case Result.Unchanged() -> {}
      case Result.Pending(var changes) ->
          log.detail(
              1,
              () -> {
                String line = where + " would be removed: " + Change.few(changes);
                return changed(LogEventKind.SWEEP_PENDING, line, swept, changes, pass);
              });
      case Result.Changed(var changes) -> {
        String line = where + " removed (" + PassJson.trigger(pass) + "): " + Change.few(changes);
        written(
            pass,
            where + " removed: " + Change.few(changes),
            () -> changed(LogEventKind.SWEPT, line, swept, changes, pass));
      }
      case Result.Failed(var failure, _) -> {
        if (!failure.equals(stale.put(where, failure))) {
          String line = where + " cannot be removed, and act on packets too: " + failure;
          log.error(
              failed(LogEventKind.SWEEP_FAILED, line, swept.family(), swept.backend(), failure));
        }
      }
    }
  }

  private static LogEvent changed(
      LogEventKind kind, String line, Swept swept, List<Change> changes, Pass pass) {
    return changed(kind, line, swept.family(), swept.backend(), changes, pass);
  }

  private static LogEvent changed(
      LogEventKind kind,
      String line,
      Family family,
      String backend,
      List<Change> changes,
      Pass pass) {
    List<Change> named = changes.subList(0, Math.min(Change.NAMED, changes.size()));
    LogEvent event =
        inPlace(LogEvent.of(kind, line), family, backend)
            .with("added", count(changes, Change.ChangeKind.ADD))
            .with("removed", count(changes, Change.ChangeKind.REMOVE))
            .with("repaired", count(changes, Change.ChangeKind.REPAIR));
    return ofPass(event, pass).with("changes", PassJson.changes(family, backend, named));
  }

  private static long count(List<Change> changes, Change.ChangeKind kind) {
    return changes.stream().filter(change -> change.kind() == kind).count();
  }

  private static LogEvent failed(
      LogEventKind kind, String line, Family family, String backend, Failure failure) {
    return inPlace(LogEvent.of(kind, line), family, backend)
        .with("failure", PassJson.failure(family, backend, failure));
  }

  private static LogEvent inPlace(LogEvent event, Family family, String backend) {
    return event.with("family", family).with("backend", backend);
  }

  private static LogEvent ofPass(LogEvent event, Pass pass) {
    return event
        .with("trigger", PassJson.trigger(pass))
        .with("duration", PassJson.duration(pass.took()));
  }
}
