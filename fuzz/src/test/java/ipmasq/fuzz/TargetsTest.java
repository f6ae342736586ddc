package ipmasq.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every target, first with all that is in its corpus, then with what the fuzzer makes of that. What
 * it finds is left under {@code fuzz/findings}; mended, it belongs into {@code fuzz/corpus}.
 */
class TargetsTest {
  private static final Path HOME = Path.of(System.getProperty("ipmasq.project"), "fuzz");
  private static final long SECONDS = Long.getLong("ipmasq.fuzz.seconds", 5);

  static Stream<String> targets() {
    return Stream.of(
        "config.ConfigTarget",
        "net.GoDurationTarget",
        "net.CidrTarget",
        "backend.iptables.SavedTableTarget",
        "netlink.nftables.NetlinkTarget",
        "backend.nftables.DecoderTarget",
        "cni.CniTarget",
        "http.HeadTarget");
  }

  private static Path corpus(String target) {
    return HOME.resolve("corpus").resolve(target.substring(target.lastIndexOf('.') + 1));
  }

  @ParameterizedTest
  @MethodSource("targets")
  void corpus(String target, @TempDir Path unused) throws Exception {
    Method method = Class.forName("ipmasq." + target).getMethod("fuzzerTestOneInput", byte[].class);
    try (Stream<Path> files = Files.list(corpus(target))) {
      List<Path> all = files.sorted().toList();
      assertTrue(all.size() > 2, "a corpus of " + all.size());
      for (Path file : all) {
        method.invoke(null, (Object) Files.readAllBytes(file));
      }
    }
    method.invoke(null, (Object) new byte[0]);
  }

  @ParameterizedTest
  @MethodSource("targets")
  @Tag("fuzz")
  void fuzzed(String target, @TempDir Path grown) throws IOException, InterruptedException {
    Path findings = Files.createDirectories(HOME.resolve("findings"));
    Path log = grown.resolve("log");
    Path added = Files.createDirectory(grown.resolve("added"));
    Process fuzzer =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx512m",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-XX:+EnableDynamicAgentLoading",
                "-cp",
                System.getProperty("java.class.path"),
                "com.code_intelligence.jazzer.Jazzer",
                "--target_class=ipmasq." + target,
                "--instrumentation_includes=ipmasq.**:org.snakeyaml.**",
                "--reproducer_path=" + grown,
                "-artifact_prefix=" + findings + File.separator + target + "-",
                "-max_total_time=" + SECONDS,
                "-timeout=20",
                "-rss_limit_mb=3000",
                "-print_final_stats=1",
                added.toString(),
                corpus(target).toString())
            .directory(grown.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    if (!fuzzer.waitFor(SECONDS + 120, TimeUnit.SECONDS)) {
      fuzzer.destroyForcibly();
    }
    List<String> said = Files.readAllLines(log, java.nio.charset.StandardCharsets.ISO_8859_1);
    assertEquals(0, fuzzer.waitFor(), () -> target + ":\n" + String.join("\n", tail(said)));
    said.stream()
        .filter(line -> line.contains("number_of_executed_units") || line.startsWith("Done "))
        .forEach(line -> System.out.println(target + ": " + line));
  }

  private static List<String> tail(List<String> lines) {
    return lines.subList(Math.max(0, lines.size() - 60), lines.size());
  }
}
