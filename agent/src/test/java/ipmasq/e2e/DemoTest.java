package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.testkit.KernelTest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What {@code make demo} shows is true, and fits a terminal. */
@KernelTest
@Execution(ExecutionMode.CONCURRENT)
class DemoTest {
  private static final int COLUMNS = 100;

  @Test
  void theDemoSucceeds() throws IOException, InterruptedException {
    Path script = Path.of(System.getProperty("ipmasq.project"), "tools", "demo");
    Process demo = new ProcessBuilder(script.toString()).redirectErrorStream(true).start();
    String shown = new String(demo.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(demo.waitFor(Node.PATIENCE.toSeconds(), TimeUnit.SECONDS), shown);
    assertEquals(0, demo.exitValue(), shown);
    shown.lines().forEach(line -> assertTrue(line.length() <= COLUMNS, line));
  }
}
