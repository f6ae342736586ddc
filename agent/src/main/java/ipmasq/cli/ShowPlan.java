package ipmasq.cli;

import ipmasq.config.Reading;
import ipmasq.loop.Pass;
import ipmasq.loop.Pass.Result;
import ipmasq.loop.Sweep.Swept;
import ipmasq.loop.Trigger;
import ipmasq.net.Family;
import ipmasq.plan.Change;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** {@code plan}: what a pass would change, and nothing done. */
final class ShowPlan {
  /** As diff tools do, but 2: 1 means that it could not be found out. */
  private static final int WOULD_CHANGE = 2;

  private ShowPlan() {}

  /** What would change in one place. */
  private record Part(String backend, Family family, List<Change> changes) {}

  static int run(Console console) {
    return run(console, System.in);
  }

  static int run(Console console, InputStream in) {
    Reading reading = console.read(in);
    if (console.config(reading).isEmpty()) {
      return Main.FAILED;
    }
    Pass pass = console.sync(reading, false).pass(Set.of(Trigger.START), false);
    List<Part> parts = new ArrayList<>();
    for (Swept place : places(pass)) {
      switch (place.result()) {
        case Result.Failed(var failure) -> {
          return console.fail(failure);
        }
        case Result.Pending(var changes) ->
            parts.add(new Part(place.backend(), place.family(), changes));
        case Result.Unchanged _, Result.Changed _ -> {}
      }
    }
    print(console, pass, parts);
    return parts.isEmpty() ? Main.OK : WOULD_CHANGE;
  }

  private static List<Swept> places(Pass pass) {
    List<Swept> places = new ArrayList<>();
    for (Family family : Family.values()) {
      if (pass.results().containsKey(family)) {
        places.add(new Swept(pass.backend(), family, pass.results().get(family)));
      }
    }
    places.addAll(pass.sweep().results());
    return places;
  }

  private static void print(Console console, Pass pass, List<Part> parts) {
    if (console.json()) {
      List<Object> all = new ArrayList<>();
      parts.forEach(part -> part.changes.forEach(change -> all.add(json(part.family, change))));
      Map<String, Object> answer = new LinkedHashMap<>();
      answer.put("backend", pass.backend());
      answer.put("changes", all);
      console.printJson(answer);
      return;
    }
    if (parts.isEmpty()) {
      console.out().println("nothing to change (" + pass.backend() + ")");
    }
    for (Part part : parts) {
      console.out().println(part.family + " (" + part.backend + ")");
      part.changes.forEach(change -> console.out().println("  " + change));
    }
  }

  static Map<String, Object> json(Family family, Change change) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("family", family);
    fields.put("change", change.kind().name().toLowerCase(Locale.ROOT));
    fields.put("what", change.what());
    return fields;
  }
}
