package ipmasq.cni;

import static ipmasq.net.Family.IPV4;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.backend.Backend;
import ipmasq.backend.Outcome;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** kill -9 at random moments: what remains is the old file or the new one. */
class KillTest {
  private static final int KILLS = Integer.getInteger("ipmasq.kills", 30);

  @TempDir Path directory;

  @Test
  void leavesTheOldFileOrTheNewOne() throws Exception {
    Node node = new Node(directory);
    Path file = node.put("azure-vnet-bom.conflist");
    Backend backend = new CniBackend(file, false);
    String original = Files.readString(file);
    assertEquals(new Outcome.Applied(), Node.enforce(backend, Rewriter.many()));
    String many = Files.readString(file);
    assertEquals(new Outcome.Applied(), Node.enforce(backend, Rewriter.FEW));
    String few = Files.readString(file);
    Random random = new Random();
    int seenMany = 0;
    int temporaries = 0;
    for (int kill = 0; kill < KILLS; kill++) {
      // By turns at some moment, and when the config is seen being written for the n-th time.
      boolean anyTime = kill % 2 == 0;
      int millis = anyTime ? random.nextInt(100) : 5_000;
      runAndKill(file, millis, anyTime ? Integer.MAX_VALUE : 1 + random.nextInt(2), few, many);
      String text = Files.readString(file);
      assertTrue(text.equals(few) || text.equals(many), "torn after kill " + kill);
      assertEquals(original, Files.readString(AtomicFile.backup(file)));
      seenMany += text.equals(many) ? 1 : 0;
      temporaries += temporaries(file).isEmpty() ? 0 : 1;
      new AtomicFile(new Disk()).deleteTemporaries(file); // the next one is the next process's
    }
    System.out.println(
        KILLS
            + " kills: "
            + seenMany
            + " times the long list, "
            + temporaries
            + " times a temporary file left");
    // The next agent takes up the work and the litter.
    Node.enforce(backend, Node.exempt(IPV4, "11.0.0.0/8"));
    assertEquals(new Outcome.Applied(), Node.cleanup(backend, IPV4));
    assertEquals(original, Files.readString(file));
    assertEquals(List.of("azure-vnet-bom.conflist"), node.names());
  }

  /** Reads all the time, as a network plugin might, until the moment to kill has come. */
  private static void runAndKill(Path file, int millis, int temporaries, String few, String many)
      throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                Rewriter.class.getName(),
                file.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (var out = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
      assertEquals("writing", out.readLine());
      long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
      Set<String> seen = new HashSet<>();
      while (System.nanoTime() < end && seen.size() < temporaries) {
        seen.addAll(temporaries(file));
        String text = Files.readString(file);
        assertTrue(text.equals(few) || text.equals(many), "torn while it is written");
      }
    } finally {
      process.destroyForcibly();
      assertTrue(process.waitFor(10, TimeUnit.SECONDS));
    }
  }

  /** Those of the config itself; the list of owned entries has its own. */
  private static List<String> temporaries(Path file) throws IOException {
    return new Node(file.getParent())
        .names().stream()
            .filter(name -> name.endsWith(".tmp") && !name.contains(".ip-masq-agent.own."))
            .toList();
  }
}
