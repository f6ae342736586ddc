package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that are large, hostile or broken: always an answer, and soon. */
class BigFileTest {
  private static final Duration SOON = Duration.ofSeconds(30); // a busy machine's soon

  @TempDir Path directory;
  private Reads reads;

  @BeforeEach
  void open() {
    reads = new Reads(directory);
  }

  private static String ranges(String before, String between, String after) {
    return IntStream.range(0, 100_000)
        .mapToObj(i -> "20." + (i >> 16) + "." + (i >> 8 & 255) + "." + (i & 255) + "/32")
        .collect(Collectors.joining(between, before, after));
  }

  @Test
  void aHundredThousandRanges() {
    String yaml = ranges("cidrLimit: 100000\nnonMasqueradeCIDRs:\n- ", "\n- ", "\n");
    String json = ranges("{\"cidrLimit\":100000,\"nonMasqueradeCIDRs\":[\"", "\",\"", "\"]}");
    Config fromYaml = assertTimeout(SOON, () -> reads.config(yaml));
    Config fromJson = assertTimeout(SOON, () -> reads.config(json));
    assertEquals(100_000, fromYaml.nonMasqueradeCidrs().size());
    assertEquals(fromYaml, fromJson);
  }

  @Test
  void aliasBomb() {
    StringBuilder text = new StringBuilder("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 30; i++) {
      text.append("a%d: &a%d [%s]\n".formatted(i, i, ("*a" + (i - 1) + ", ").repeat(9)));
    }
    String problems = assertTimeout(SOON, () -> reads.problems(text.toString()));
    assertTrue(problems.contains("document contains excessive aliasing"), problems);
  }

  @Test
  void deepNesting() {
    assertTimeout(SOON, () -> reads.config("x: " + "[".repeat(90) + "]".repeat(90)));
    for (String deep : List.of("x: " + "[".repeat(20_000), "<<: {".repeat(3_000))) {
      String problems = assertTimeout(SOON, () -> reads.problems(deep));
      assertTrue(problems.contains("nested more than 100 deep"), problems);
    }
  }

  @Test
  void aMapThatIsMergedIntoItself() {
    String problems = assertTimeout(SOON, () -> reads.problems("<<: &a {<<: *a}\n"));
    assertTrue(problems.contains("too many merges"), problems);
  }

  @Test
  void manyUnknownKeys() {
    String text =
        IntStream.range(0, 50_000).mapToObj(i -> "key" + i + ": x\n").collect(Collectors.joining());
    String warnings = assertTimeout(SOON, () -> reads.warnings(text));
    assertTrue(warnings.endsWith("f: warning: and 49980 more warnings"), warnings);
  }

  /** Bytes are changed, dropped and repeated; whatever comes out, it is a reading. */
  @Test
  void anyMutationGivesAReading() {
    Random random = new Random(42);
    for (Case recorded : Case.all()) {
      byte[] original = recorded.file().orElse(new byte[0]);
      for (int i = 0; i < 12 && original.length > 0 && original.length < 2_000; i++) {
        byte[] mutant = mutate(original, random);
        try {
          reads.reading(mutant, FlagDefaults.none());
        } catch (RuntimeException | StackOverflowError e) {
          throw new AssertionError(new String(mutant, StandardCharsets.ISO_8859_1), e);
        }
      }
    }
  }

  private static byte[] mutate(byte[] original, Random random) {
    byte[] mutant = original.clone();
    String special = "{}[]:,-#&*!|>'\"%@`?\t\n \\~<0x\0\u00ff";
    for (int n = random.nextInt(4); n >= 0; n--) {
      int at = random.nextInt(mutant.length);
      switch (random.nextInt(3)) {
        case 0 -> mutant[at] = (byte) special.charAt(random.nextInt(special.length()));
        case 1 -> mutant[at] = (byte) random.nextInt(256);
        default -> {
          int from = random.nextInt(mutant.length);
          int length = random.nextInt(mutant.length - Math.max(at, from));
          System.arraycopy(mutant, from, mutant, at, length);
        }
      }
    }
    return mutant;
  }
}
