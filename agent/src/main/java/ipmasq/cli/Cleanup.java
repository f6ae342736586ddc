package ipmasq.cli;

import ipmasq.backend.Backend;
import ipmasq.loop.Enforcement;
import ipmasq.loop.Pass.Result;
import ipmasq.net.Family;
import ipmasq.plan.Change;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** {@code cleanup}: removes all that is ours, whichever version and backend wrote it. */
final class Cleanup {
  private Cleanup() {}

  static int run(Console console) {
    int code = Main.OK;
    List<Object> removed = new ArrayList<>();
    for (Backend backend : console.backends().all(console.settings().config())) {
      for (Family family : Family.values()) {
        switch (new Enforcement(true).remove(backend, family)) {
          case Result.Unchanged(), Result.Pending _ -> {}
          case Result.Changed(var changes) -> {
            for (Change change : changes) {
              removed.add(ShowPlan.json(family, change));
              if (!console.json()) {
                console.out().println(family + " (" + backend.name() + "): " + change);
              }
            }
          }
          // What cannot be looked at (no IPv6, no such program) holds no rules of ours to remove.
          case Result.Failed(var failure) -> code = console.fail(failure);
        }
      }
    }
    if (console.json()) {
      console.printJson(Map.of("removed", removed));
    } else if (removed.isEmpty() && code == Main.OK) {
      console.out().println("nothing of ours is there");
    }
    return code;
  }
}
