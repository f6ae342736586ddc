package ipmasq.evidence;

import ipmasq.thread.Daemon;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The one thread that gathers evidence: tasks that come back when they are due, and questions in
 * between. However many ask, it is one thread, and a full queue says so. Safe for use by several
 * threads.
 */
public final class EvidenceThread {
  /** How many questions may wait. */
  public static final int MOST_QUESTIONS = 16;

  /** Something to do from time to time. */
  @FunctionalInterface
  public interface Task {
    /** Does it, and says after which time to do it again. */
    Duration run() throws InterruptedException;
  }

  private final BlockingQueue<FutureTask<?>> questions = new ArrayBlockingQueue<>(MOST_QUESTIONS);
  private final List<Due> tasks = new ArrayList<>(); // guarded by itself
  private final Consumer<Throwable> failed;

  private record Due(Task task, long at) {}

  private EvidenceThread(Consumer<Throwable> failed) {
    this.failed = failed;
  }

  /**
   * Starts a daemon thread.
   *
   * @param failed gets what a task threw; the task is run again later
   */
  public static EvidenceThread start(Consumer<Throwable> failed) {
    EvidenceThread evidence = new EvidenceThread(failed);
    Daemon.startForGood("evidence", evidence::run);
    return evidence;
  }

  /** Runs a task after some time, and again whenever it asks for. */
  public void schedule(Duration first, Task task) {
    synchronized (tasks) {
      tasks.add(new Due(task, System.nanoTime() + first.toNanos()));
    }
    questions.offer(new FutureTask<>(() -> null)); // so that it looks at the clock again
  }

  /**
   * Asks a question. Cancelling the answer takes the question back, unless it is being answered.
   *
   * @return empty if too many wait already: come back later
   */
  public <T> Optional<Future<T>> ask(Callable<T> question) {
    FutureTask<T> asked =
        new FutureTask<>(question) {
          @Override
          public boolean cancel(boolean interrupt) {
            questions.remove(this);
            return super.cancel(false);
          }
        };
    return questions.offer(asked) ? Optional.of(asked) : Optional.empty();
  }

  private void run() {
    try {
      while (true) {
        Optional<Due> next = next();
        long wait = next.map(due -> due.at - System.nanoTime()).orElse(Long.MAX_VALUE);
        FutureTask<?> question = questions.poll(Math.max(0, wait), TimeUnit.NANOSECONDS);
        if (question != null) {
          question.run(); // keeps what it throws for the one who asked
        }
        if (next.isPresent() && next.get().at - System.nanoTime() <= 0) {
          run(next.get());
        }
      }
    } catch (InterruptedException end) {
      Thread.currentThread().interrupt();
    }
  }

  private Optional<Due> next() {
    synchronized (tasks) {
      return tasks.stream().min(Comparator.comparingLong(due -> due.at - System.nanoTime()));
    }
  }

  private void run(Due due) throws InterruptedException {
    Duration again = Duration.ofSeconds(30);
    try {
      again = due.task.run();
    } catch (RuntimeException bug) {
      failed.accept(bug);
    }
    synchronized (tasks) {
      tasks.remove(due);
      tasks.add(new Due(due.task, System.nanoTime() + again.toNanos()));
    }
  }
}
