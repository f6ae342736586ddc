package ipmasq.cli;

import ipmasq.config.Reading;
import ipmasq.plan.Change;
import ipmasq.sync.Sweep.Swept;
import ipmasq.sync.SyncReport;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** {@code plan}: shows what a sync would change, as a diff, and writes nothing. */
final class ShowPlan {
  private ShowPlan() {}

  static int run(CommandContext context) {
    Reading reading = context.read();
    if (!context.accepts(reading)) {
      return Main.FAILED;
    }
    SyncReport report = context.sync(reading, false);
    RuleChanges changes = RuleChanges.of(report);
    Optional<PlannedFlows> flows =
        context.isOn(Flag.FLOWS)
            ? Optional.of(PlannedFlows.of(context, report.config()))
            : Optional.empty();
    if (context.json()) {
      Map<String, Object> answer = CommandContext.answer(reading);
      answer.put("backend", report.backend());
      changes.addTo(answer);
      flows.ifPresent(it -> answer.put("flows", it.json()));
      context.printJson(answer);
    } else {
      print(context, report, changes);
      flows.ifPresent(it -> context.out().print(it.text()));
    }
    return changes.end(context);
  }

  private static void print(CommandContext context, SyncReport report, RuleChanges changes) {
    List<Change> all = changes.all();
    if (all.isEmpty()) {
      if (report.enforced()) {
        context.out().println("nothing to change (" + report.backend() + ")");
      }
      return;
    }
    for (Swept place : changes.places()) {
      if (!RuleChanges.in(place).isEmpty()) {
        context.out().println(place.family() + " (" + place.backend() + ")");
        RuleChanges.in(place).forEach(context.out()::println);
      }
    }
    context
        .out()
        .printf(
            "%n%d to add, %d to remove, %d to repair (%s)%n",
            count(all, Change.Kind.ADD),
            count(all, Change.Kind.REMOVE),
            count(all, Change.Kind.REPAIR),
            report.backend());
  }

  private static long count(List<Change> changes, Change.Kind kind) {
    return changes.stream().filter(change -> change.kind() == kind).count();
  }
}
