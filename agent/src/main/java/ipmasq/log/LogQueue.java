package ipmasq.log;

import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongFunction;

/**
 * Lines on their way to a stream that may block: only a dedicated thread waits for it. Safe for use
 * by several threads.
 *
 * <p>A pipe that nobody reads fills up, and then the lines that do not fit here are dropped; when
 * the stream moves again, a line says how many.
 */
public final class LogQueue implements Consumer<String>, AutoCloseable {
  private static final int CAPACITY = 1_000;

  /** How long shutdown waits for a stream that may have no reader. */
  private static final Duration PATIENCE = Duration.ofMillis(300);

  private final PrintStream out;
  private final LongFunction<String> droppedLine;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Deque<String> lines = new ArrayDeque<>();
  private long dropped;
  private boolean writing;

  /**
   * @param droppedLine the line that says how many were dropped
   */
  public LogQueue(PrintStream out, LongFunction<String> droppedLine) {
    this.out = out;
    this.droppedLine = droppedLine;
    Thread.ofPlatform().daemon().name("log").start(this::run);
  }

  @Override
  public void accept(String line) {
    lock.lock();
    try {
      if (lines.size() < CAPACITY) {
        lines.add(line);
        changed.signalAll();
      } else {
        dropped++;
      }
    } finally {
      lock.unlock();
    }
  }

  private void drop() {
    lock.lock();
    try {
      dropped++;
    } finally {
      lock.unlock();
    }
  }

  private void run() {
    try {
      while (true) {
        try {
          out.println(next());
        } catch (OutOfMemoryError full) {
          drop();
          TimeUnit.NANOSECONDS.sleep(PATIENCE.toNanos()); // the next may find room
        }
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  private String next() throws InterruptedException {
    lock.lock();
    try {
      writing = false;
      changed.signalAll();
      while (lines.isEmpty() && dropped == 0) {
        changed.await();
      }
      writing = true;
      String line = lines.poll();
      if (line != null) {
        return line;
      }
      String lost = droppedLine.apply(dropped);
      dropped = 0;
      return lost;
    } finally {
      lock.unlock();
    }
  }

  /** Waits until all is written, but not for long. */
  @Override
  public void close() {
    lock.lock();
    try {
      long left = PATIENCE.toNanos();
      while ((writing || !lines.isEmpty() || dropped > 0) && left > 0) {
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    } finally {
      lock.unlock();
    }
  }
}
