package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigFollowerTest {
  private static final FlagDefaults NO_FLAGS = FlagDefaults.none();
  private static final String ONE = "nonMasqueradeCIDRs: [10.0.0.0/8]";
  private static final String TWO = "nonMasqueradeCIDRs: [11.0.0.0/8]";

  @TempDir Path directory;
  private Path file;
  private ConfigFollower follower;
  private Runnable meanwhile = () -> {};
  private int pauses;

  @BeforeEach
  void write() throws IOException {
    file = Files.writeString(directory.resolve("ip-masq-agent"), ONE);
    follower = follower(file);
  }

  @Test
  void aFileThatDidNotChangeIsNotWorkedThroughAgain() throws IOException {
    Reading before = follower.read(NO_FLAGS);
    Files.writeString(file, ONE);
    assertSame(before, follower.read(NO_FLAGS));
  }

  @Test
  void aFileOfTheSameLengthWrittenInTheSameMomentIsRead() throws IOException {
    follower.read(NO_FLAGS);
    FileTime moment = Files.getLastModifiedTime(file);
    Files.writeString(file, TWO);
    Files.setLastModifiedTime(file, moment);
    assertEquals("[11.0.0.0/8]", ranges(follower.read(NO_FLAGS)));
  }

  @Test
  void aFileInItsPlaceIsRead() throws IOException {
    follower.read(NO_FLAGS);
    Path other = Files.writeString(directory.resolve("draft"), TWO);
    Files.setLastModifiedTime(other, Files.getLastModifiedTime(file));
    Files.delete(file);
    Files.move(other, file);
    assertEquals("[11.0.0.0/8]", ranges(follower.read(NO_FLAGS)));
  }

  @Test
  void aBadFileStaysBadUntilItChanges() throws IOException {
    Files.writeString(file, "nonMasqueradeCIDRs: 1");
    assertInstanceOf(Reading.Rejected.class, follower.read(NO_FLAGS));
    assertInstanceOf(Reading.Rejected.class, follower.read(NO_FLAGS));
    Files.delete(file);
    assertEquals(
        NO_FLAGS.config(), assertInstanceOf(Reading.Read.class, follower.read(NO_FLAGS)).config());
    Files.writeString(file, ONE);
    assertEquals("[10.0.0.0/8]", ranges(follower.read(NO_FLAGS)));
  }

  @Test
  void anotherBaseIsAnotherConfig() {
    Reading before = follower.read(NO_FLAGS);
    FlagDefaults other =
        new FlagDefaults(
            Config.defaults().with(Key.ENABLE_IPV6, true), NO_FLAGS.fixed(), NO_FLAGS.auto());
    assertNotSame(before, follower.read(other));
  }

  @Test
  void aFileMoreInADirectoryIsSeen() throws IOException {
    ConfigFollower all = follower(directory);
    all.read(NO_FLAGS);
    Files.writeString(directory.resolve("ip-masq-more"), TWO);
    assertEquals("[10.0.0.0/8, 11.0.0.0/8]", ranges(all.read(NO_FLAGS)));
  }

  private static String ranges(Reading reading) {
    return assertInstanceOf(Reading.Read.class, reading).config().nonMasqueradeCidrs().toString();
  }

  private ConfigFollower follower(Path path) {
    ConfigPaths paths = new ConfigPaths(List.of(path), ConfigPaths.IfMissing.DEFAULTS);
    return new ConfigFollower(
        paths.paths(),
        paths::look,
        Duration.ofSeconds(60),
        () -> {},
        time -> {
          pauses++;
          meanwhile.run();
        });
  }

  private static String list(int ranges) {
    return IntStream.range(0, ranges)
        .mapToObj(i -> "- 10." + i + ".0.0/16\n")
        .collect(Collectors.joining("", "nonMasqueradeCIDRs:\n", ""));
  }

  @ParameterizedTest
  @ValueSource(strings = {"nonMasqueradeCIDRs:\n", "", "nonMasqueradeCIDRs:\n- 10.0.0.0/16\n"})
  void aHalfWrittenFileIsReadAgainAMomentLater(String half) throws IOException {
    Files.writeString(file, list(4));
    Reading before = follower.read(NO_FLAGS);
    Files.writeString(file, half);
    meanwhile = () -> write(list(5));
    assertEquals(5, size(follower.read(NO_FLAGS)));
    assertEquals(1, pauses);
    assertEquals(4, size(before));
  }

  @ParameterizedTest
  @ValueSource(strings = {"nonMasqueradeCIDRs: []\n", "", "nonMasqueradeCIDRs:\n- 10.0.0.0/16\n"})
  void aListThatStaysShortTakesEffect(String text) throws IOException {
    Files.writeString(file, list(4));
    follower.read(NO_FLAGS);
    Files.writeString(file, text);
    assertNotEquals(4, size(follower.read(NO_FLAGS)));
    assertEquals(1, pauses);
    follower.read(NO_FLAGS);
    assertEquals(1, pauses);
  }

  @Test
  void aFileThatIsGoneIsLookedForOnceMore() throws IOException {
    follower.read(NO_FLAGS);
    Files.delete(file);
    meanwhile = () -> write(TWO);
    assertEquals("[11.0.0.0/8]", ranges(follower.read(NO_FLAGS)));
    assertEquals(1, pauses);
  }

  @Test
  void aListThatLosesHalfOrLessIsNoReasonToWait() throws IOException {
    Files.writeString(file, list(4));
    follower.read(NO_FLAGS);
    for (int ranges : new int[] {2, 1, 8, 4}) {
      Files.writeString(file, list(ranges));
      assertEquals(ranges, size(follower.read(NO_FLAGS)));
    }
    assertEquals(0, pauses);
  }

  @Test
  void aFileThatDoesNotSettleIsRejected() throws IOException {
    Files.writeString(file, list(40));
    follower.read(NO_FLAGS);
    Files.writeString(file, list(1));
    meanwhile = () -> write(list(1 + pauses));
    Reading.Rejected rejected = assertInstanceOf(Reading.Rejected.class, follower.read(NO_FLAGS));
    assertEquals(
        file
            + ": error: changes faster than it can be read, and says much less than before (it is"
            + " read again when it changes no more)",
        rejected.problems().getFirst().toString());
    meanwhile = () -> {};
    assertEquals(1 + pauses, size(follower.read(NO_FLAGS)));
  }

  private void write(String text) {
    try {
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int size(Reading reading) {
    return assertInstanceOf(Reading.Read.class, reading).config().nonMasqueradeCidrs().size();
  }

  @Test
  void aMountThatDoesNotAnswerIsABadFileUntilItDoes() throws InterruptedException {
    ConfigPaths paths = new ConfigPaths(List.of(file), ConfigPaths.IfMissing.ERROR);
    CountDownLatch stuck = new CountDownLatch(1);
    CountDownLatch answered = new CountDownLatch(1);
    AtomicInteger looks = new AtomicInteger();
    ConfigFollower.FileLook slow =
        progress -> {
          looks.incrementAndGet();
          progress.accept(file);
          try {
            stuck.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          return paths.look();
        };
    ConfigFollower waiting =
        new ConfigFollower(
            paths.paths(), slow, Duration.ofMillis(200), answered::countDown, time -> {});
    Reading reading = waiting.read(NO_FLAGS);
    assertEquals(
        file
            + ": error: cannot be read: no answer within 200ms (check its mount; it is read as soon"
            + " as it answers)",
        assertInstanceOf(Reading.Rejected.class, reading).problems().getFirst().toString());
    for (int i = 0; i < 5; i++) {
      assertSame(reading, waiting.read(NO_FLAGS));
    }
    assertEquals(1, looks.get());
    stuck.countDown();
    assertTrue(answered.await(60, TimeUnit.SECONDS));
    Reading now = reading;
    for (int i = 0; i < 100 && now instanceof Reading.Rejected; i++) {
      now = waiting.read(NO_FLAGS);
    }
    assertEquals("[10.0.0.0/8]", ranges(now));
  }
}
