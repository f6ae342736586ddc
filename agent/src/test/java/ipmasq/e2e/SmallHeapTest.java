package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Namespace;
import ipmasq.testkit.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file of 100,000 ranges is read and loaded within a heap of 96 MB, as java.args gives. */
@KernelTest
class SmallHeapTest {
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  @Test
  void aHundredThousandRanges(@TempDir Path directory) throws Exception {
    StringBuilder text = new StringBuilder("nonMasqueradeCIDRs:\n");
    for (int i = 0; i < 100_000; i++) {
      text.append("- ").append(20 + (i >> 16)).append('.').append(i >> 8 & 255).append('.');
      text.append(i & 255).append(".0/25\n");
    }
    Path file = Files.writeString(directory.resolve("config"), text);
    try (Namespace namespace = Namespace.open("heap")) {
      Result loaded = apply(namespace, file);
      assertEquals(0, loaded.exit(), loaded.stderr());
      Files.writeString(file, "- 100.64.0.0/10\n", StandardOpenOption.APPEND);
      Result oneMore = apply(namespace, file);
      assertEquals(0, oneMore.exit(), oneMore.stderr());
      assertTrue(oneMore.stdout().contains("+100.64.0.0/10\n"), oneMore.stdout());
      assertEquals(5, oneMore.stdout().lines().count(), "head, owner, one range, summary");
    }
  }

  private static Result apply(Namespace namespace, Path file) {
    return namespace.runWithin(
        PATIENCE,
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-Xmx96m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "--enable-native-access=ALL-UNNAMED",
        "-cp",
        System.getProperty("java.class.path"),
        "ipmasq.cli.Main",
        "apply",
        "--backend=nftables",
        "--config=" + file);
  }
}
