package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigFollowerTest {
  private static final FlagDefaults NO_FLAGS = FlagDefaults.none();
  private static final String ONE = "nonMasqueradeCIDRs: [10.0.0.0/8]";
  private static final String TWO = "nonMasqueradeCIDRs: [11.0.0.0/8]";

  @TempDir Path directory;
  private Path file;
  private Path path;
  private final ConfigFollower follower = new ConfigFollower();

  @BeforeEach
  void write() throws IOException {
    file = Files.writeString(directory.resolve("ip-masq-agent"), ONE);
    path = file;
  }

  @Test
  void aFileThatDidNotChangeIsNotWorkedThroughAgain() throws IOException {
    Reading before = read();
    Files.writeString(file, ONE);
    assertSame(before, read());
  }

  @Test
  void aFileOfTheSameLengthWrittenInTheSameMomentIsRead() throws IOException {
    read();
    FileTime moment = Files.getLastModifiedTime(file);
    Files.writeString(file, TWO);
    Files.setLastModifiedTime(file, moment);
    assertEquals("[11.0.0.0/8]", ranges(read()));
  }

  @Test
  void aFileInItsPlaceIsRead() throws IOException {
    read();
    Path other = Files.writeString(directory.resolve("draft"), TWO);
    Files.setLastModifiedTime(other, Files.getLastModifiedTime(file));
    Files.delete(file);
    Files.move(other, file);
    assertEquals("[11.0.0.0/8]", ranges(read()));
  }

  @Test
  void aBadFileStaysBadUntilItChanges() throws IOException {
    Files.writeString(file, "nonMasqueradeCIDRs: 1");
    assertInstanceOf(Reading.Rejected.class, read());
    assertInstanceOf(Reading.Rejected.class, read());
    Files.delete(file);
    assertEquals(NO_FLAGS.config(), assertInstanceOf(Reading.Read.class, read()).config());
    Files.writeString(file, ONE);
    assertEquals("[10.0.0.0/8]", ranges(read()));
  }

  @Test
  void anotherBaseIsAnotherConfig() {
    Reading before = read();
    FlagDefaults other =
        new FlagDefaults(
            Config.defaults().with(Key.ENABLE_IPV6, true), NO_FLAGS.fixed(), NO_FLAGS.auto());
    assertNotSame(before, read(other));
  }

  @Test
  void aFileMoreInADirectoryIsSeen() throws IOException {
    path = directory;
    read();
    Files.writeString(directory.resolve("ip-masq-more"), TWO);
    assertEquals("[10.0.0.0/8, 11.0.0.0/8]", ranges(read()));
  }

  private static String ranges(Reading reading) {
    return assertInstanceOf(Reading.Read.class, reading).config().nonMasqueradeCidrs().toString();
  }

  @Test
  void withoutItsMountTheConfigStays() throws IOException {
    Path mountinfo = directory.resolve("mountinfo");
    String root = "22 1 0:20 / / rw - ext4 /dev/a rw\n";
    Files.writeString(mountinfo, root + "23 22 0:21 / " + directory + " rw - tmpfs t rw\n");
    ConfigFollower mounted = new ConfigFollower(mountinfo);
    ConfigPaths paths = new ConfigPaths(List.of(file), ConfigPaths.IfMissing.DEFAULTS);
    Reading first = mounted.read(paths.read(), NO_FLAGS);
    Files.delete(file);
    Files.writeString(mountinfo, root);
    Reading gone = mounted.read(paths.read(), NO_FLAGS);
    assertEquals("[10.0.0.0/8]", ranges(gone));
    assertEquals(first.sources(), gone.sources());
    assertEquals(
        "["
            + file
            + ": warning: the volume "
            + directory
            + " is not mounted any more: the last config"
            + " stays in force (mount it again, or restart the agent without it)]",
        assertInstanceOf(Reading.Read.class, gone).warnings().toString());
    // What is mounted again counts, and a file that is deleted there was deleted.
    Files.writeString(mountinfo, root + "24 22 0:21 / " + directory + " rw - tmpfs t rw\n");
    Files.writeString(file, TWO);
    assertEquals("[11.0.0.0/8]", ranges(mounted.read(paths.read(), NO_FLAGS)));
    Files.delete(file);
    assertEquals(Config.PRIVATE.toString(), ranges(mounted.read(paths.read(), NO_FLAGS)));
  }

  @Test
  void aMountThatDoesNotAnswerIsABadFile() {
    Reading reading = ConfigFollower.noAnswer(file, Duration.ofSeconds(2));
    assertEquals(
        file
            + ": error: cannot be read: no answer within 2s (check its mount; it is read as soon"
            + " as it answers)",
        assertInstanceOf(Reading.Rejected.class, reading).problems().getFirst().toString());
  }

  private Reading read() {
    return read(NO_FLAGS);
  }

  private Reading read(FlagDefaults flags) {
    return follower.read(
        new ConfigPaths(List.of(path), ConfigPaths.IfMissing.DEFAULTS).read(), flags);
  }
}
