package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigFollowerTest {
  private static final FlagDefaults BASE = FlagDefaults.none();
  private static final String ONE = "nonMasqueradeCIDRs: [10.0.0.0/8]";
  private static final String TWO = "nonMasqueradeCIDRs: [11.0.0.0/8]";

  @TempDir Path directory;
  private Path file;
  private ConfigFollower follower;

  @BeforeEach
  void write() throws IOException {
    file = Files.writeString(directory.resolve("ip-masq-agent"), ONE);
    follower = new ConfigFollower(List.of(file));
  }

  @Test
  void aFileThatDidNotChangeIsNotWorkedThroughAgain() throws IOException {
    Reading before = follower.read(BASE);
    Files.writeString(file, ONE);
    assertSame(before, follower.read(BASE));
  }

  @Test
  void aFileOfTheSameLengthWrittenInTheSameMomentIsRead() throws IOException {
    follower.read(BASE);
    FileTime moment = Files.getLastModifiedTime(file);
    Files.writeString(file, TWO);
    Files.setLastModifiedTime(file, moment);
    assertEquals("[11.0.0.0/8]", ranges(follower.read(BASE)));
  }

  @Test
  void aFileInItsPlaceIsRead() throws IOException {
    follower.read(BASE);
    Path other = Files.writeString(directory.resolve("draft"), TWO);
    Files.setLastModifiedTime(other, Files.getLastModifiedTime(file));
    Files.delete(file);
    Files.move(other, file);
    assertEquals("[11.0.0.0/8]", ranges(follower.read(BASE)));
  }

  @Test
  void aBadFileStaysBadUntilItChanges() throws IOException {
    Files.writeString(file, "nonMasqueradeCIDRs: 1");
    assertInstanceOf(Reading.Rejected.class, follower.read(BASE));
    assertInstanceOf(Reading.Rejected.class, follower.read(BASE));
    Files.delete(file);
    assertEquals(BASE.config(), assertInstanceOf(Reading.Read.class, follower.read(BASE)).config());
    Files.writeString(file, ONE);
    assertEquals("[10.0.0.0/8]", ranges(follower.read(BASE)));
  }

  @Test
  void anotherBaseIsAnotherConfig() {
    Reading before = follower.read(BASE);
    FlagDefaults other =
        new FlagDefaults(Config.defaults().with(Key.ENABLE_IPV6, true), BASE.fixed(), BASE.auto());
    assertNotSame(before, follower.read(other));
  }

  @Test
  void aFileMoreInADirectoryIsSeen() throws IOException {
    ConfigFollower all = new ConfigFollower(List.of(directory));
    all.read(BASE);
    Files.writeString(directory.resolve("ip-masq-more"), TWO);
    assertEquals("[10.0.0.0/8, 11.0.0.0/8]", ranges(all.read(BASE)));
  }

  private static String ranges(Reading reading) {
    return assertInstanceOf(Reading.Read.class, reading).config().nonMasqueradeCidrs().toString();
  }
}
