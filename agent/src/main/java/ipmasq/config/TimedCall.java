package ipmasq.config;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Runs calls that may never return on a separate thread, and waits for each with a timeout. Used by
 * one thread.
 *
 * <p>While a call that timed out has not returned, no other is made: there is at most one such
 * thread, and nobody waits for it again.
 */
final class TimedCall<T> {
  private final String name;
  private final Duration patience;
  private final Runnable returned;
  private @Nullable Task<T> late;

  /**
   * @param returned runs on the other thread when a call that timed out has returned
   */
  TimedCall(String name, Duration patience, Runnable returned) {
    this.name = name;
    this.patience = patience;
    this.returned = returned;
  }

  private static final class Task<T> extends FutureTask<T> {
    private final Runnable returned;
    private boolean givenUp;

    Task(Callable<T> call, Runnable returned) {
      super(call);
      this.returned = returned;
    }

    /** Whether it has not returned by now. */
    synchronized boolean giveUp() {
      givenUp = !isDone();
      return givenUp;
    }

    @Override
    protected void done() {
      synchronized (this) {
        if (!givenUp) {
          return;
        }
      }
      returned.run();
    }
  }

  Duration patience() {
    return patience;
  }

  /** The result of the call; empty if it timed out. */
  Optional<T> call(Callable<T> call) {
    Task<T> before = late;
    if (before != null && !before.isDone()) {
      return Optional.empty();
    }
    late = null; // its result is stale by now
    Task<T> task = new Task<>(call, returned);
    start(task);
    try {
      return Optional.of(task.get(patience.toMillis(), TimeUnit.MILLISECONDS));
    } catch (TimeoutException slow) {
      return givenUp(task);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      return givenUp(task);
    } catch (ExecutionException e) {
      throw rethrown(e);
    }
  }

  private void start(Task<T> task) {
    try {
      Thread.ofPlatform().daemon().name(name).start(task);
    } catch (OutOfMemoryError noThread) {
      // The node's limit of processes is reached: better to risk the wait than not to read.
      task.run();
    }
  }

  private Optional<T> givenUp(Task<T> task) {
    if (task.giveUp()) {
      late = task;
      return Optional.empty();
    }
    try {
      return Optional.of(task.get());
    } catch (InterruptedException e) {
      throw new IllegalStateException("it is done", e);
    } catch (ExecutionException e) {
      throw rethrown(e);
    }
  }

  private static RuntimeException rethrown(ExecutionException e) {
    switch (e.getCause()) {
      case Error error -> throw error;
      case RuntimeException bug -> throw bug;
      case null, default -> throw new IllegalStateException(e);
    }
  }
}
