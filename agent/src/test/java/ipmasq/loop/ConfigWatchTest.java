package ipmasq.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.testkit.ConfigVolume;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigWatchTest {
  private static final Duration DEADLINE = Duration.ofSeconds(20);
  private static final Duration QUIET = Duration.ofMillis(100);

  private final Triggers triggers = new Triggers(Rest::parking);

  @Test
  void aConfigMapVolumeIsFollowed() throws Exception {
    try (ConfigVolume volume = new ConfigVolume()) {
      volume.publish("a: 1");
      try (ConfigWatch _ = ConfigWatch.start(volume.file(), triggers)) {
        follow(() -> volume.publish("a: 2"));
        follow(() -> volume.publish("a: 3"));
        follow(volume::remove);
      }
    }
  }

  @Test
  void aPlainFileIsFollowedHoweverItIsWritten(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("config");
    try (ConfigWatch _ = ConfigWatch.start(file, triggers)) {
      follow(() -> Files.writeString(file, "a: 1"));
      follow(() -> Files.writeString(file, "a: 2"));
      follow(
          () -> {
            Path other = Files.writeString(directory.resolve("draft"), "a: 3");
            Files.move(other, file, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
          });
      follow(() -> Files.delete(file));
    }
  }

  @Test
  void aNeighbourIsNoNews(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("config"), "a: 1");
    try (ConfigWatch _ = ConfigWatch.start(file, triggers)) {
      follow(() -> Files.writeString(file, "a: 2"));
      Files.writeString(directory.resolve("neighbour"), "a: 1");
      assertEquals(Set.of(), triggers.await(QUIET.toNanos()));
    }
  }

  @Test
  void aDirectoryMayGoAndComeBack(@TempDir Path parent) throws Exception {
    Path directory = parent.resolve("a/b");
    Path file = directory.resolve("config");
    try (ConfigWatch _ = ConfigWatch.start(file, triggers)) {
      follow(
          () -> {
            Files.createDirectories(directory);
            Files.writeString(file, "a: 1");
          });
      follow(
          () -> {
            Files.delete(file);
            Files.delete(directory);
          });
      follow(
          () -> {
            Files.createDirectories(directory);
            Files.writeString(file, "a: 2");
          });
      follow(() -> Files.writeString(file, "a: 3"));
    }
  }

  @Test
  void allFilesOfADirectoryAreFollowed(@TempDir Path directory) throws Exception {
    try (ConfigWatch _ = ConfigWatch.start(directory, triggers)) {
      follow(() -> Files.writeString(directory.resolve("ip-masq-a"), "a: 1"));
      follow(() -> Files.writeString(directory.resolve("ip-masq-b"), "a: 1"));
    }
  }

  private interface Act {
    void run() throws IOException;
  }

  /** The act is told of, and then all is quiet again. */
  private void follow(Act act) throws Exception {
    // A watch starts in a thread of its own; what comes too early for it is told of all the same.
    act.run();
    assertEquals(Set.of(Trigger.CONFIG), triggers.await(DEADLINE.toNanos()));
    while (!triggers.await(QUIET.toNanos()).isEmpty()) {
      // The rest of what one act caused.
    }
  }
}
