package ipmasq.cli;

import ipmasq.net.Family;
import ipmasq.plan.Change;
import ipmasq.sync.Sweep.Swept;
import ipmasq.sync.SyncReport;
import ipmasq.sync.SyncReport.Result;
import ipmasq.sync.SyncReportJson;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What a command did, or would do, to the rules of each backend and family. */
record RuleChanges(List<Swept> places) {
  /** First the config's own backend, then those with stale rules to remove. */
  static RuleChanges of(SyncReport report) {
    List<Swept> places = new ArrayList<>();
    for (Family family : Family.values()) {
      if (report.results().containsKey(family)) {
        places.add(new Swept(report.backend(), family, report.results().get(family)));
      }
    }
    places.addAll(report.sweep().results());
    return new RuleChanges(places);
  }

  private static List<Change> in(Swept place) {
    return switch (place.result()) {
      case Result.Changed(var changes) -> changes;
      case Result.Pending(var changes) -> changes;
      case Result.Unchanged(), Result.Failed _ -> List.of();
    };
  }

  /**
   * As a diff with its figures; nothing of what failed.
   *
   * @param what which rules, as the last words of a line
   */
  void print(PrintStream out, String nothing, String what) {
    List<Change> all = new ArrayList<>();
    for (Swept place : places) {
      List<Change> changes = in(place);
      if (!changes.isEmpty()) {
        out.println(place.family() + " (" + place.backend() + ")");
        changes.forEach(out::println);
        all.addAll(changes);
      }
    }
    if (all.isEmpty() && places.stream().allMatch(it -> it.result() instanceof Result.Unchanged)) {
      out.println(nothing + what);
    } else if (!all.isEmpty()) {
      boolean done = places.stream().anyMatch(place -> place.result() instanceof Result.Changed);
      out.printf(
          done
              ? "%n%d added, %d removed, %d repaired%s%n"
              : "%n%d to add, %d to remove, %d to repair%s%n",
          count(all, Change.Kind.ADD),
          count(all, Change.Kind.REMOVE),
          count(all, Change.Kind.REPAIR),
          what);
    }
  }

  private static long count(List<Change> changes, Change.Kind kind) {
    return changes.stream().filter(change -> change.kind() == kind).count();
  }

  /** Adds them to an answer for scripts. */
  void addTo(Map<String, Object> answer) {
    List<Object> changes = new ArrayList<>();
    List<Object> failures = new ArrayList<>();
    for (Swept place : places) {
      changes.addAll(SyncReportJson.changes(place.family(), place.backend(), in(place)));
      if (place.result() instanceof Result.Failed(var failure, _)) {
        failures.add(SyncReportJson.failure(place.family(), place.backend(), failure));
      }
    }
    answer.put("changes", changes);
    answer.put("failures", failures);
  }

  /** Says what failed; returns the exit code of the command. */
  int end(CommandContext context) {
    int code = Main.OK;
    for (Swept place : places) {
      if (place.result() instanceof Result.Failed(var failure, _)) {
        code = context.fail(failure);
      } else if (place.result() instanceof Result.Pending && code == Main.OK) {
        code = Main.WOULD_CHANGE;
      }
    }
    return code;
  }
}
