package ipmasq.log;

import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
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

  private static final String END = ""; // no line is empty

  private final BlockingQueue<String> lines = new ArrayBlockingQueue<>(CAPACITY);
  private final AtomicLong dropped = new AtomicLong();
  private final PrintStream out;
  private final LongFunction<String> droppedLine;
  private final Thread writer;

  /**
   * @param droppedLine the line that says how many were dropped
   */
  public LogQueue(PrintStream out, LongFunction<String> droppedLine) {
    this.out = out;
    this.droppedLine = droppedLine;
    writer = Thread.ofPlatform().daemon().name("log").start(this::run);
  }

  @Override
  public void accept(String line) {
    if (!lines.offer(line)) {
      dropped.incrementAndGet();
    }
  }

  private void run() {
    try {
      for (String line = lines.take(); !line.equals(END); line = lines.take()) {
        out.println(line);
        long lost = lines.isEmpty() ? dropped.getAndSet(0) : 0;
        if (lost > 0) {
          out.println(droppedLine.apply(lost));
        }
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits until all is written, but not for long. */
  @Override
  public void close() {
    try {
      if (lines.offer(END, PATIENCE.toNanos(), TimeUnit.NANOSECONDS)) {
        writer.join(PATIENCE);
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }
}
