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
 * Posts {@link Trigger#CONFIG} when the config may have changed. A thread of its own waits for the
 * kernel's word, and looks at the file's attributes once a second, because that word may never
 * come: there may be no watch to be had, and the directory may be moved away or mounted over.
 *
 * <p>The directory is watched, not the file: a ConfigMap volume changes by swapping its {@code
 * ..data} link, and editors rename a new file into place. Where the directory is not there, the
 * nearest one above it is watched until it is.
 */
public final class ConfigWatch implements AutoCloseable {
  private static final long LOOK_MILLIS = 1_000;

  /** A file that is being written is left to settle, so that no half of it is read. */
  private static final long SETTLE_MILLIS = 5;

  /** One that is written without end is read all the same. */
  private static final long SETTLE_AT_MOST_NANOS = 100_000_000;

  /** The link that a ConfigMap volume swaps in one step: nothing to wait for. */
  private static final String SWAPPED = "..data";

  private final Path path;
  private final Triggers triggers;
  private final Consumer<String> warnings;
  private final @Nullable WatchService service;
  private final CountDownLatch closed = new CountDownLatch(1);
  private @Nullable Watched watched;
  private boolean warned;

  /** A directory under watch, by what the kernel knows it by. */
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
   * @param warnings is told, once, that the kernel gives no watch
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
          // The loop has a config at hand that is too large, and will drop it.
          TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
        }
      }
    } catch (ClosedWatchServiceException | InterruptedException ended) {
      // Closed: nobody listens any more.
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

  /** Watches the directory that is there now, or the nearest above it. */
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

  /** What tells one state of the file from another, or of all files where it is a directory. */
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

  /** Takes events until they pause; whether one of them concerns the config. */
  private boolean settle(@Nullable WatchKey first) throws InterruptedException {
    boolean concerns = false;
    long end = System.nanoTime() + SETTLE_AT_MOST_NANOS;
    WatchKey key = first;
    while (key != null) {
      boolean swapped = false;
      for (WatchEvent<?> event : key.pollEvents()) {
        // Events that were too many to list have no name: any of them may have been ours.
        swapped |= event.context() instanceof Path name && name.endsWith(SWAPPED);
        concerns |= !(event.context() instanceof Path name) || concerns(name);
      }
      key.reset();
      if (swapped) {
        return true;
      }
      // Whatever is taken from the service is drained and reset above: a key is never lost.
      boolean enough = !concerns || System.nanoTime() - end >= 0;
      key = enough ? null : next(SETTLE_MILLIS);
    }
    return concerns;
  }

  private boolean concerns(Path name) {
    return name.equals(path.getFileName()) || Files.isDirectory(path);
  }
}
