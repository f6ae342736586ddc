package ipmasq.loop;

import java.io.IOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Posts {@link Trigger#CONFIG} when the config may have changed. A dedicated thread waits for
 * inotify events and also checks the file's attributes once per second, because events can be
 * missing: inotify may be unavailable, and the directory may be moved or mounted over.
 *
 * <p>The directory is watched, not the file: a ConfigMap volume changes by swapping its {@code
 * ..data} link, and editors rename a new file into place. If the directory does not exist, its
 * nearest existing parent is watched until it does.
 */
public final class ConfigWatch implements AutoCloseable {
  private static final long LOOK_MILLIS = 1_000;

  /** A file that is being written gets time to settle, so that it is not read half written. */
  private static final long SETTLE_MILLIS = 5;

  /** A file that never settles is read after this time. */
  private static final long SETTLE_AT_MOST_NANOS = 100_000_000;

  /** The link that a ConfigMap volume swaps atomically: no need to wait. */
  private static final String SWAPPED = "..data";

  private final Path path;
  private final Triggers triggers;
  private final Consumer<String> warnings;
  private final @Nullable WatchService service;
  private final CountDownLatch closed = new CountDownLatch(1);
  private @Nullable Watched watched;
  private boolean warned;

  /** A watched directory, identified as the kernel does. */
  private record Watched(Object directory, WatchKey key) {}

  private ConfigWatch(
      Path path, Triggers triggers, Consumer<String> warnings, @Nullable WatchService service) {
    this.path = path;
    this.triggers = triggers;
    this.warnings = warnings;
    this.service = service;
  }

  /**
   * Starts to watch a file, or all files of a directory.
   *
   * @param warnings receives one warning if the kernel offers no watch
   */
  public static ConfigWatch start(Path path, Triggers triggers, Consumer<String> warnings) {
    ConfigWatch watch =
        new ConfigWatch(path.toAbsolutePath(), triggers, warnings, service(path, warnings));
    Thread.ofPlatform().daemon().name("config-watch").start(watch::run);
    return watch;
  }

  private static @Nullable WatchService service(Path path, Consumer<String> warnings) {
    try {
      return FileSystems.getDefault().newWatchService();
    } catch (IOException noInstance) {
      warnings.accept(unwatched(path, noInstance));
      return null;
    }
  }

  private static String unwatched(Path path, IOException why) {
    return path + " cannot be watched (" + why.getMessage() + "): it is looked at once a second";
  }

  @Override
  public void close() throws IOException {
    closed.countDown();
    if (service != null) {
      service.close();
    }
  }

  private void run() {
    List<Object> seen = List.of();
    try {
      while (true) {
        try {
          watch();
          List<Object> now = attributes();
          if (!now.equals(seen)) {
            seen = now;
            triggers.post(Trigger.CONFIG);
          }
          if (settle(next(LOOK_MILLIS))) {
            seen = attributes();
            triggers.post(Trigger.CONFIG);
          }
        } catch (OutOfMemoryError full) {
          // The loop holds a config that is too large, and will drop it.
          TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
        }
      }
    } catch (ClosedWatchServiceException | InterruptedException ended) {
      // Closed.
    }
  }

  private @Nullable WatchKey next(long millis) throws InterruptedException {
    if (service != null) {
      return service.poll(millis, TimeUnit.MILLISECONDS);
    }
    if (closed.await(millis, TimeUnit.MILLISECONDS)) {
      throw new ClosedWatchServiceException();
    }
    return null;
  }

  /** Watches the directory, or its nearest existing parent. */
  private void watch() {
    Watched before = watched;
    if (service == null) {
      return;
    }
    try {
      Path directory = nearestDirectory();
      Object key = key(directory);
      if (before != null && before.directory.equals(key) && before.key.isValid()) {
        return;
      }
      if (before != null) {
        watched = null;
        before.key.cancel();
      }
      WatchKey now =
          directory.register(
              service,
              StandardWatchEventKinds.ENTRY_CREATE,
              StandardWatchEventKinds.ENTRY_MODIFY,
              StandardWatchEventKinds.ENTRY_DELETE);
      watched = new Watched(key, now);
    } catch (IOException unwatchable) {
      if (!warned) {
        warned = true;
        warnings.accept(unwatched(path, unwatchable));
      }
    }
  }

  private static Object key(Path directory) throws IOException {
    Object key = Files.readAttributes(directory, BasicFileAttributes.class).fileKey();
    return key == null ? directory : key;
  }

  private Path nearestDirectory() {
    Path at = Files.isDirectory(path) ? path : path.getParent();
    while (at != null && !Files.isDirectory(at)) {
      at = at.getParent();
    }
    return at == null ? path.getRoot() : at;
  }

  /** A stamp that changes with the file, or with any file of a directory. */
  private List<Object> attributes() {
    List<Object> all = new ArrayList<>();
    all.add(attributes(path));
    if (Files.isDirectory(path)) {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(path)) {
        files.forEach(file -> all.add(List.of(file, attributes(file))));
      } catch (IOException gone) {
        all.add("unreadable");
      }
    }
    return all;
  }

  private static Object attributes(Path file) {
    try {
      BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
      return List.of(String.valueOf(found.fileKey()), found.lastModifiedTime(), found.size());
    } catch (IOException none) {
      return "none";
    }
  }

  /** Takes events until they pause; returns whether one of them concerns the config. */
  private boolean settle(@Nullable WatchKey first) throws InterruptedException {
    boolean concerns = false;
    long end = System.nanoTime() + SETTLE_AT_MOST_NANOS;
    WatchKey key = first;
    while (key != null) {
      boolean swapped = false;
      for (WatchEvent<?> event : key.pollEvents()) {
        // After an overflow the events have no names: any of them may concern the config.
        swapped |= event.context() instanceof Path name && name.endsWith(SWAPPED);
        concerns |= !(event.context() instanceof Path name) || concerns(name);
      }
      key.reset();
      if (swapped) {
        return true;
      }
      // Every key taken from the service is drained and reset above, so none is lost.
      boolean enough = !concerns || System.nanoTime() - end >= 0;
      key = enough ? null : next(SETTLE_MILLIS);
    }
    return concerns;
  }

  private boolean concerns(Path name) {
    return name.equals(path.getFileName()) || Files.isDirectory(path);
  }
}
