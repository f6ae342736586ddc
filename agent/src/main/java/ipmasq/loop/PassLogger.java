package ipmasq.loop;

import ipmasq.backend.Failure;
import ipmasq.config.Problem;
import ipmasq.log.Log;
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
import org.jspecify.annotations.Nullable;

/**
 * Tells the log what is new about each pass, and nothing twice. Used by the loop's thread.
 *
 * <p>A change of rules is always news. A problem, a failure, the choice of a backend are news when
 * they begin, when they become others, and when they end.
 */
public final class PassLogger implements Consumer<Pass> {
  private final Log log;
  private @Nullable Pass before;
  private String mended = "";
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
      log.info("backend " + pass.backend() + ": " + pass.backendReason());
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
      log.info(
          pass.flows() == 1
              ? "1 flow under way follows the new rules"
              : pass.flows() + " flows under way follow the new rules");
    }
    List<String> known = before == null ? List.of() : before.warnings();
    for (String warning : pass.warnings()) {
      if (!known.contains(warning)) {
        log.warn(warning);
      }
    }
    if (!pass.changed() && pass.enforced()) {
      log.detail(2, () -> "pass (" + words(pass) + ") found everything in place");
    }
    before = pass;
  }

  /** One line when it begins, with what is repaired again and again, and one when it is over. */
  private void fight(Pass pass) {
    boolean fought = before != null && before.fighting();
    if (pass.fighting() && !fought) {
      log.warn(
          "another program keeps changing our rules, and this was repaired each time: "
              + (mended.isEmpty() ? "what other lines say" : mended)
              + "; from now on we wait for some seconds before each repair");
    } else if (fought && !pass.fighting()) {
      log.info(
          "the other program has left our rules alone for a while; they were repaired "
              + repairs
              + " times meanwhile");
      repairs = 0;
    }
  }

  private void file(Pass pass) {
    List<Problem> known = before == null ? List.of() : before.problems();
    for (Problem problem : pass.problems()) {
      if (!known.contains(problem)) {
        switch (problem.severity()) {
          case ERROR -> log.error(problem.toString());
          case WARNING -> log.warn(problem.toString());
        }
      }
    }
    Basis was = before == null ? Basis.FILE : before.basis();
    if (pass.basis() == was) {
      return;
    }
    switch (pass.basis()) {
      case FILE -> log.info("the config file is good again, and in force");
      case LAST_GOOD -> log.warn("the config file is bad: the last good one stays in force");
      case FALLBACK ->
          log.warn(
              "the config file is bad: rules that an earlier run left are kept; where there are"
                  + " none, the defaults are in force");
    }
  }

  private void rules(Family family, Result result, Pass pass) {
    switch (result) {
      case Result.Failed(var failure) -> {
        if (!failure.equals(failing.put(family, failure))) {
          log.error(failure + "; tried again until it works");
        }
      }
      case Result.Changed(var changes) -> {
        failing.remove(family);
        String line =
            family
                + " rules changed ("
                + words(pass)
                + ", "
                + pass.took().toMillis()
                + " ms): "
                + Change.few(changes);
        if (pass.why().contains(Trigger.RULES)) {
          mended = family + " " + Change.few(changes);
        }
        if (pass.fighting() && !pass.why().contains(Trigger.CONFIG)) {
          repairs++;
          log.detail(1, () -> line); // the fight itself has been told of
        } else {
          log.info(line);
        }
      }
      case Result.Pending(var changes) -> {
        if (!changes.equals(pending.put(family, changes))) {
          log.info(family + " rules would change (" + words(pass) + "): " + Change.few(changes));
        }
      }
      case Result.Unchanged() -> {
        pending.remove(family);
        if (failing.remove(family) != null) {
          log.info(family + " rules are in place again");
        }
      }
    }
  }

  private void swept(Swept swept, Pass pass) {
    String where = swept.family() + " rules of ours in " + swept.backend();
    switch (swept.result()) {
      case Result.Unchanged() -> {}
      case Result.Pending(var changes) ->
          log.detail(1, () -> where + " would be removed: " + Change.few(changes));
      case Result.Changed(var changes) ->
          log.info(where + " removed (" + words(pass) + "): " + Change.few(changes));
      case Result.Failed(var failure) -> {
        if (!failure.equals(stale.put(where, failure))) {
          log.error(where + " cannot be removed, and act on packets too: " + failure);
        }
      }
    }
  }

  private static String words(Pass pass) {
    StringBuilder words = new StringBuilder();
    for (Trigger trigger : Trigger.values()) {
      if (pass.why().contains(trigger)) {
        words.append(words.isEmpty() ? "" : ", ").append(trigger);
      }
    }
    return words.toString();
  }
}
