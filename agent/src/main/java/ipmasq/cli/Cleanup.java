package ipmasq.cli;

import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.config.Config;
import ipmasq.config.Reading;
import ipmasq.net.Family;
import ipmasq.plan.Change;
import ipmasq.sync.Enforcement;
import ipmasq.sync.Sweep.Swept;
import ipmasq.sync.SyncReport.Result;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** {@code cleanup}: removes all rules of the agent, whichever version and backend wrote them. */
final class Cleanup {
  private Cleanup() {}

  static int run(CommandContext context) {
    RunningAgent.find()
        .filter(RunningAgent::writes)
        .ifPresent(
            agent ->
                warn(
                    context,
                    "an agent runs here (process "
                        + agent.pid()
                        + ") and will put its rules back"));
    NodeProcess.goAgent()
        .ifPresent(other -> warn(context, other.asForeignAgent() + ", and may put its rules back"));
    return context.isOn(Flag.HOLD) ? hold(context) : clean(context);
  }

  private static void warn(CommandContext context, String what) {
    context.err().println(what + ": stop it first");
  }

  /**
   * Cleans, then stays until a signal ends it: for the pods of a DaemonSet, which is there while
   * they are. What it is at when the signal comes is brought to its end.
   */
  private static int hold(CommandContext context) {
    AtomicInteger code = new AtomicInteger(Main.FAILED);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  synchronized (code) {
                    Runtime.getRuntime().halt(code.get());
                  }
                },
                "stop"));
    synchronized (code) {
      code.set(clean(context));
    }
    if (code.get() == Main.OK) {
      context.out().println("waiting for SIGTERM");
      context.out().flush();
      while (!Thread.currentThread().isInterrupted()) {
        LockSupport.park();
      }
    }
    return code.get();
  }

  private static int clean(CommandContext context) {
    Enforcement enforcement = new Enforcement(!context.settings().dryRun());
    List<Swept> places = new ArrayList<>();
    for (Backend backend : context.backends().all(config(context))) {
      for (Family family : Family.values()) {
        Result result = enforcement.remove(backend, family);
        if (result instanceof Result.Failed(var failure, var unread) && unread) {
          result = new Result.Failed(withRemains(failure, backend.unreadRemains(family)));
        }
        places.add(new Swept(backend.name(), family, result));
      }
    }
    RuleChanges changes = new RuleChanges(places);
    if (context.json()) {
      Map<String, Object> answer = new LinkedHashMap<>();
      changes.addTo(answer);
      context.printJson(answer);
    } else {
      places.forEach(place -> print(context, place));
      if (places.stream().allMatch(place -> place.result() instanceof Result.Unchanged)) {
        context.out().println("nothing to remove");
      }
    }
    return changes.end(context);
  }

  private static void print(CommandContext context, Swept place) {
    boolean pending = place.result() instanceof Result.Pending;
    for (Change change : RuleChanges.in(place)) {
      String what = pending ? "would remove " + change.what() : change.toString();
      context.out().println(place.family() + " (" + place.backend() + "): " + what);
    }
  }

  /** The file may name the chain; if it cannot be read, the flags do. */
  private static Config config(CommandContext context) {
    return context.read() instanceof Reading.Read read
        ? read.config()
        : context.settings().config();
  }

  /** Advice about what is known to be there helps more than advice about reading it. */
  private static Failure withRemains(Failure failure, List<String> remains) {
    return remains.isEmpty()
        ? failure
        : new Failure(failure.message(), String.join("; ", remains), failure.lasting());
  }
}
