package ipmasq.thread;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Starts threads that do not keep the process alive. */
public final class Daemon {
  private static final Map<String, Runnable> refused = new LinkedHashMap<>(); // guarded by itself

  private Daemon() {}

  /** Starts a thread that lives as long as the agent, now or when {@link #retry} can. */
  public static void startForGood(String name, Runnable task) {
    if (!start(name, task)) {
      synchronized (refused) {
        refused.put(name, task);
      }
    }
  }

  /** Starts those that the kernel refused; returns the names of those that it still refuses. */
  public static List<String> retry() {
    synchronized (refused) {
      refused.entrySet().removeIf(each -> start(each.getKey(), each.getValue()));
      return new ArrayList<>(refused.keySet());
    }
  }

  /**
   * Starts a thread, or returns false if the kernel allows no more: a pod's pids limit, for
   * example.
   *
   * <p>Java throws the error of a full heap for that. It is not one: {@code
   * -XX:+ExitOnOutOfMemoryError} ends the process when the heap is full, and does not see this.
   */
  public static boolean start(String name, Runnable task) {
    try {
      Thread.ofPlatform().daemon().name(name).start(task);
      return true;
    } catch (OutOfMemoryError noThread) {
      return false;
    }
  }
}
