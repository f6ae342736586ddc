package ipmasq.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import ipmasq.config.ConfigPaths;
import ipmasq.config.FileSnapshot;
import ipmasq.testkit.ConfigVolume;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigWatchTest {
  private static final Duration DEADLINE = Duration.ofSeconds(20);
  private static final Duration QUIET = Duration.ofMillis(100);

  private final Trigger.Queue triggers = new Trigger.Queue();
  private final Queue<String> warnings = new ConcurrentLinkedQueue<>();

  @Test
  void aConfigMapVolumeIsFollowed() throws Exception {
    try (ConfigVolume volume = new ConfigVolume()) {
      volume.publish("a: 1");
      try (ConfigWatch _ = watch(volume.file())) {
        follow(() -> volume.publish("a: 2"));
        follow(() -> volume.publish("a: 3"));
        follow(volume::remove);
      }
    }
  }

  @Test
  void aPlainFileIsFollowedHoweverItIsWritten(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("config");
    try (ConfigWatch _ = watch(file)) {
      follow(() -> Files.writeString(file, "a: 1"));
      follow(() -> Files.writeString(file, "a: 2"));
      follow(
          () -> {
            Path other = Files.writeString(directory.resolve("draft"), "a: 3");
            Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
          });
      follow(() -> Files.delete(file));
    }
  }

  @Test
  void aNeighbourIsNoNews(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("config"), "a: 1");
    try (ConfigWatch _ = watch(file)) {
      follow(() -> Files.writeString(file, "a: 2"));
      Files.writeString(directory.resolve("neighbour"), "a: 1");
      assertEquals(Set.of(), triggers.await(QUIET.toNanos()));
    }
  }

  @Test
  void aDirectoryMayGoAndComeBack(@TempDir Path parent) throws Exception {
    Path directory = parent.resolve("a/b");
    Path file = directory.resolve("config");
    try (ConfigWatch _ = watch(file)) {
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
    try (ConfigWatch _ = watch(directory)) {
      follow(() -> Files.writeString(directory.resolve("ip-masq-a"), "a: 1"));
      follow(() -> Files.writeString(directory.resolve("ip-masq-b"), "a: 1"));
    }
  }

  @Test
  void aLongBurstOfWritesDoesNotEndTheWatch(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("config"), "a: 1");
    try (ConfigWatch _ = watch(file)) {
      follow(() -> Files.writeString(file, "a: 2"));
      for (int burst = 0; burst < 3; burst++) {
        follow(
            () -> {
              try (OutputStream slow = Files.newOutputStream(file)) {
                long end = System.nanoTime() + Duration.ofMillis(300).toNanos();
                while (System.nanoTime() < end) {
                  slow.write('x');
                  slow.flush();
                  LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
                }
              }
            });
      }
      follow(() -> Files.writeString(file, "a: 3"));
    }
  }

  @Test
  void aDirectoryMayBeMovedAwayAndReplaced(@TempDir Path parent) throws Exception {
    Path directory = Files.createDirectory(parent.resolve("config"));
    Path file = Files.writeString(directory.resolve("ip-masq-agent"), "a: 1");
    try (ConfigWatch _ = watch(file)) {
      follow(() -> Files.writeString(file, "a: 2"));
      follow(
          () -> {
            Files.move(directory, parent.resolve("before"));
            Files.createDirectory(directory);
            Files.writeString(file, "a: 3");
          });
      follow(() -> Files.writeString(file, "a: 4"));
      assertEquals(Set.of(), Set.copyOf(warnings));
    }
  }

  @Test
  void aFileThatIsReplacedWithTheSameTimeAndSizeIsSeen(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("config"), "a: 1");
    FileTime time = Files.getLastModifiedTime(file);
    try (ConfigWatch _ = watch(file)) {
      follow(() -> Files.writeString(file, "a: 2"));
      Path other = Files.writeString(directory.resolve("draft"), "a: 3");
      Files.setLastModifiedTime(other, time);
      follow(() -> Files.move(other, file, StandardCopyOption.REPLACE_EXISTING));
    }
  }

  @Test
  void aHalfWrittenFileIsNotRead(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("config"), "a: 1");
    try (ConfigWatch watch = watch(file)) {
      follow(() -> Files.writeString(file, "a: 2"));
      List<FileSnapshot> before = watch.files().orElseThrow();
      Files.writeString(file, "");
      assertSame(before, watch.files().orElseThrow());
      Files.writeString(file, "a: 3");
      assertEquals(Set.of(Trigger.CONFIG), triggers.await(DEADLINE.toNanos()));
      assertEquals(file + ", 4 bytes", watch.files().orElseThrow().getFirst().toString());
    }
  }

  @Test
  void whatWasReadFirstIsThereWithoutATrigger(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("config"), "a: 1");
    try (ConfigWatch watch = watch(file)) {
      assertEquals(file + ", 4 bytes", watch.files().orElseThrow().getFirst().toString());
      assertEquals(false, watch.overdue());
      assertEquals(Set.of(), triggers.await(QUIET.toNanos()));
    }
  }

  /** Has read the file once. */
  private ConfigWatch watch(Path path) {
    ConfigPaths paths = new ConfigPaths(List.of(path), ConfigPaths.IfMissing.DEFAULTS);
    ConfigWatch watch = ConfigWatch.start(paths, triggers, warnings::add);
    watch.files();
    return watch;
  }

  private interface Act {
    void run() throws IOException;
  }

  /** The act is told of, and then all is quiet again. */
  private void follow(Act act) throws Exception {
    act.run();
    assertEquals(Set.of(Trigger.CONFIG), triggers.await(DEADLINE.toNanos()));
    while (!triggers.await(QUIET.toNanos()).isEmpty()) {
      // The rest of what one act caused.
    }
  }
}
