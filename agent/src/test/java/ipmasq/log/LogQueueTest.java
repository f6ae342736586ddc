package ipmasq.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.testkit.Eventually;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class LogQueueTest {
  private final ByteArrayOutputStream written = new ByteArrayOutputStream();
  private final CountDownLatch read = new CountDownLatch(1);

  /** A pipe that is full until somebody reads it. */
  private final OutputStream pipe =
      new OutputStream() {
        @Override
        public void write(int b) {
          try {
            read.await();
          } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
          }
          written.write(b);
        }
      };

  @Test
  void whoLogsNeverWaitsAndWhatWasDroppedIsCounted() {
    LogQueue queue = queue();
    for (int i = 0; i < 5_000; i++) {
      queue.accept("line " + i);
    }
    queue.close(); // does not wait for a pipe that nobody reads
    read.countDown();
    List<String> lines =
        Eventually.eventually("the end", this::lines, it -> it.toString().contains("dropped"));
    assertEquals("line 0", lines.getFirst());
    long kept = lines.stream().filter(line -> line.startsWith("line ")).count();
    assertTrue(kept >= 1_000 && kept < 1_010, "kept " + kept);
    assertEquals(5_000 - kept + " dropped", lines.getLast());
  }

  @Test
  void allIsWrittenInOrderBeforeTheEnd() {
    read.countDown();
    try (LogQueue queue = queue()) {
      queue.accept("one");
      queue.accept("two");
    }
    assertEquals("one\ntwo\n", written.toString(StandardCharsets.UTF_8));
  }

  private List<String> lines() {
    return written.toString(StandardCharsets.UTF_8).lines().toList();
  }

  private LogQueue queue() {
    PrintStream out = new PrintStream(pipe, true, StandardCharsets.UTF_8);
    return new LogQueue(out, count -> count + " dropped");
  }
}
