package ipmasq.cli;

import ipmasq.backend.Failure;
import ipmasq.config.Reading;
import ipmasq.net.Family;
import ipmasq.plan.Change;
import ipmasq.sync.Sweep.Swept;
import ipmasq.sync.SyncReport;
import ipmasq.sync.SyncReport.Result;
import ipmasq.sync.SyncReportJson;
import ipmasq.sync.Trigger;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** {@code plan}: shows what a sync would change, as a diff, and writes nothing. */
final class ShowPlan {
  private ShowPlan() {}

  /** What would change in one place. */
  private record PlanPart(String backend, Family family, List<Change> changes) {
    List<Map<String, Object>> json() {
      return SyncReportJson.changes(family, backend, changes);
    }
  }

  /** A place that cannot be read. */
  private record Unseen(String backend, Family family, Failure failure) {
    Map<String, Object> json() {
      return SyncReportJson.failure(family, backend, failure);
    }
  }

  static int run(CommandContext context) {
    return run(context, System.in);
  }

  static int run(CommandContext context, InputStream in) {
    Reading reading = context.read(in);
    if (!context.accepts(reading)) {
      return Main.FAILED;
    }
    SyncReport pass = context.sync(reading, false).pass(Set.of(Trigger.START), false);
    List<PlanPart> parts = new ArrayList<>();
    List<Unseen> unseen = new ArrayList<>();
    for (Swept place : places(pass)) {
      switch (place.result()) {
        case Result.Failed(var failure, _) ->
            unseen.add(new Unseen(place.backend(), place.family(), failure));
        case Result.Pending(var changes) ->
            parts.add(new PlanPart(place.backend(), place.family(), changes));
        case Result.Unchanged _, Result.Changed _ -> {}
      }
    }
    Optional<PlannedFlows> flows =
        context.settings().flows()
            ? Optional.of(PlannedFlows.of(context, pass.config()))
            : Optional.empty();
    if (context.json()) {
      Map<String, Object> answer = json(reading, pass, parts, unseen);
      flows.ifPresent(it -> answer.put("flows", it.json()));
      context.printJson(answer);
    } else {
      print(context, pass, parts);
      flows.ifPresent(it -> context.out().print(it.text()));
      unseen.forEach(each -> context.fail(each.failure));
    }
    return !unseen.isEmpty() ? Main.FAILED : parts.isEmpty() ? Main.OK : Main.WOULD_CHANGE;
  }

  /** First the config's own backend, then those with stale rules to remove. */
  private static List<Swept> places(SyncReport pass) {
    List<Swept> places = new ArrayList<>();
    for (Family family : Family.values()) {
      if (pass.results().containsKey(family)) {
        places.add(new Swept(pass.backend(), family, pass.results().get(family)));
      }
    }
    places.addAll(pass.sweep().results());
    return places;
  }

  private static void print(CommandContext context, SyncReport pass, List<PlanPart> parts) {
    if (parts.isEmpty()) {
      if (pass.enforced()) {
        context.out().println("nothing to change (" + pass.backend() + ")");
      }
      return;
    }
    for (PlanPart part : parts) {
      context.out().println(part.family + " (" + part.backend + ")");
      part.changes.forEach(change -> context.out().println(change));
    }
    context.out().println();
    context
        .out()
        .println(
            "%d to add, %d to remove, %d to repair (%s)"
                .formatted(
                    count(parts, Change.Kind.ADD),
                    count(parts, Change.Kind.REMOVE),
                    count(parts, Change.Kind.REPAIR),
                    pass.backend()));
  }

  private static long count(List<PlanPart> parts, Change.Kind kind) {
    return parts.stream()
        .flatMap(part -> part.changes.stream())
        .filter(change -> change.kind() == kind)
        .count();
  }

  private static Map<String, Object> json(
      Reading reading, SyncReport pass, List<PlanPart> parts, List<Unseen> unseen) {
    List<Object> changes = new ArrayList<>();
    parts.forEach(part -> changes.addAll(part.json()));
    Map<String, Object> answer = CommandContext.answer(reading);
    answer.put("backend", pass.backend());
    answer.put("changes", changes);
    answer.put("failures", unseen.stream().map(Unseen::json).toList());
    return answer;
  }
}
