package ipmasq.cli;

import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.config.Config;
import ipmasq.config.Reading;
import ipmasq.net.Family;
import ipmasq.sync.Enforcement;
import ipmasq.sync.SyncReport.Result;
import ipmasq.sync.SyncReportJson;
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
    return context.settings().hold() ? hold(context) : clean(context);
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
    boolean writes = !context.settings().dryRun();
    int code = Main.OK;
    List<Object> removed = new ArrayList<>();
    List<Object> failures = new ArrayList<>();
    for (Backend backend : context.backends().all(config(context))) {
      for (Family family : Family.values()) {
        Result result = new Enforcement(writes).remove(backend, family);
        if (result instanceof Result.Changed(var changes)) {
          removed.addAll(SyncReportJson.changes(family, backend.name(), changes));
        } else if (result instanceof Result.Pending(var changes)) {
          removed.addAll(SyncReportJson.changes(family, backend.name(), changes));
          code = code == Main.OK ? Main.WOULD_CHANGE : code;
        } else if (result instanceof Result.Failed(var failure, var unread)) {
          // What cannot be read (no IPv6, no such program) holds no rules to remove.
          Failure found = unread ? withRemains(failure, backend.unreadRemains(family)) : failure;
          failures.add(SyncReportJson.failure(family, backend.name(), found));
          code = context.fail(found);
        }
        print(context, family, backend, result);
      }
    }
    if (context.json()) {
      Map<String, Object> answer = new LinkedHashMap<>();
      answer.put("changes", removed);
      answer.put("failures", failures);
      context.printJson(answer);
    } else if (removed.isEmpty() && code == Main.OK) {
      context.out().println("nothing to remove");
    }
    return code;
  }

  private static void print(CommandContext context, Family family, Backend backend, Result result) {
    if (!context.json()) {
      String where = family + " (" + backend.name() + "): ";
      switch (result) {
        case Result.Unchanged(), Result.Failed _ -> {}
        case Result.Changed(var changes) ->
            changes.forEach(change -> context.out().println(where + change));
        case Result.Pending(var changes) ->
            changes.forEach(
                change -> context.out().println(where + "would remove " + change.what()));
      }
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
