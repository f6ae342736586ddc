package ipmasq.cli;

import ipmasq.backend.Chosen;
import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.config.Config;
import ipmasq.net.Family;
import ipmasq.plan.Change;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** {@code plan}: what a pass would change, and nothing done. */
final class ShowPlan {
  /** As diff tools do, but 2: 1 means that it could not be found out. */
  private static final int WOULD_CHANGE = 2;

  private ShowPlan() {}

  static int run(Console console) {
    Optional<Config> config = console.config();
    if (config.isEmpty()) {
      return Main.FAILED;
    }
    Chosen chosen = console.backends().forConfig(config.get());
    Map<Family, List<Change>> changes = new LinkedHashMap<>();
    for (Family family : Family.values()) {
      boolean on = config.get().enables(family);
      switch (chosen.backend().observe(family)) {
        case Observation.Unseen(Failure failure) -> {
          if (on) {
            return console.fail(failure);
          }
        }
        case Observation.Seen(var observed) ->
            changes.put(
                family,
                on
                    ? Plan.toward(chosen.backend().form(Policy.of(config.get(), family)), observed)
                        .changes()
                    : Plan.removal(observed).changes());
      }
    }
    print(console, chosen, changes);
    return changes.values().stream().allMatch(List::isEmpty) ? Main.OK : WOULD_CHANGE;
  }

  private static void print(Console console, Chosen chosen, Map<Family, List<Change>> changes) {
    if (console.json()) {
      List<Object> all = new ArrayList<>();
      changes.forEach((family, list) -> list.forEach(change -> all.add(json(family, change))));
      Map<String, Object> answer = new LinkedHashMap<>();
      answer.put("backend", chosen.backend().name());
      answer.put("changes", all);
      console.printJson(answer);
      return;
    }
    if (changes.values().stream().allMatch(List::isEmpty)) {
      console.out().println("nothing to change (" + chosen.backend().name() + ")");
    }
    changes.forEach(
        (family, list) -> {
          if (!list.isEmpty()) {
            console.out().println(family + " (" + chosen.backend().name() + ")");
            list.forEach(change -> console.out().println("  " + change));
          }
        });
  }

  static Map<String, Object> json(Family family, Change change) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("family", family);
    fields.put("change", change.kind().name().toLowerCase());
    fields.put("what", change.what());
    return fields;
  }
}
