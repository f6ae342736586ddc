package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigFollowerTest {
  private static final Base BASE = Base.defaults();
  private static final String ONE = "nonMasqueradeCIDRs: [10.0.0.0/8]";
  private static final String TWO = "nonMasqueradeCIDRs: [11.0.0.0/8]";

  @TempDir Path directory;
  private Path file;
  private ConfigFollower later;
  private ConfigFollower atOnce;

  @BeforeEach
  void write() throws IOException {
    file = Files.writeString(directory.resolve("ip-masq-agent"), ONE);
    Clock inAMinute = Clock.offset(Clock.systemUTC(), Duration.ofMinutes(1));
    later = new ConfigFollower(List.of(file), inAMinute);
    atOnce = new ConfigFollower(List.of(file), Clock.systemUTC());
  }

  @Test
  void aFileThatDidNotChangeIsNotParsedAgain() {
    assertSame(later.read(BASE), later.read(BASE));
  }

  @Test
  void aYoungFileIsReadEachTime() {
    assertNotSame(atOnce.read(BASE), atOnce.read(BASE));
  }

  @Test
  void aFileInItsPlaceIsRead() throws IOException {
    later.read(BASE);
    Path other = Files.writeString(directory.resolve("draft"), TWO);
    Files.setLastModifiedTime(other, Files.getLastModifiedTime(file));
    Files.delete(file);
    Files.move(other, file);
    assertEquals("[11.0.0.0/8]", ranges(later.read(BASE)));
  }

  @Test
  void aBadFileAndAMissingOneAreLookedAtEachTime() throws IOException {
    Files.writeString(file, "nonMasqueradeCIDRs: 1");
    assertInstanceOf(Reading.Rejected.class, later.read(BASE));
    assertNotSame(later.read(BASE), later.read(BASE));
    Files.delete(file);
    assertNotSame(later.read(BASE), later.read(BASE));
  }

  @Test
  void anotherBaseIsAnotherConfig() {
    Reading before = later.read(BASE);
    Base other =
        new Base(Config.defaults().draft().enableIpv6(true).config(), BASE.fixed(), BASE.auto());
    assertNotSame(before, later.read(other));
  }

  @Test
  void aFileMoreInADirectoryIsSeen() throws IOException {
    ConfigFollower all =
        new ConfigFollower(
            List.of(directory), Clock.offset(Clock.systemUTC(), Duration.ofMinutes(1)));
    all.read(BASE);
    Files.writeString(directory.resolve("ip-masq-more"), TWO);
    assertEquals("[10.0.0.0/8, 11.0.0.0/8]", ranges(all.read(BASE)));
  }

  private static String ranges(Reading reading) {
    return assertInstanceOf(Reading.Read.class, reading).config().nonMasqueradeCidrs().toString();
  }
}
