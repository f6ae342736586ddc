package ipmasq.loop;

import java.io.IOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.concurrent.TimeUnit;

/**
 * Posts {@link Trigger#CONFIG} when the config may have changed. A thread of its own waits for the
 * kernel's word; while nothing happens it costs nothing.
 *
 * <p>The directory is watched, not the file: a ConfigMap volume changes by swapping its {@code
 * ..data} link, and editors rename a new file into place. Where the directory is not there, the
 * nearest one above it is watched until it is.
 *
 * <p>What this misses (a {@code subPath} mount, a network file system) the resync finds.
 */
public final class ConfigWatch implements AutoCloseable {
  /** A file that is being written is left to settle, so that no half of it is read. */
  private static final long SETTLE_MILLIS = 5;

  /** The link that a ConfigMap volume swaps in one step: nothing to wait for. */
  private static final String SWAPPED = "..data";

  private final Path path;
  private final Triggers triggers;
  private final WatchService service;

  private ConfigWatch(Path path, Triggers triggers, WatchService service) {
    this.path = path;
    this.triggers = triggers;
    this.service = service;
  }

  /** Starts to watch a file, or all files of a directory. */
  public static ConfigWatch start(Path path, Triggers triggers) throws IOException {
    WatchService service = FileSystems.getDefault().newWatchService();
    ConfigWatch watch = new ConfigWatch(path.toAbsolutePath(), triggers, service);
    Thread.ofPlatform().daemon().name("config-watch").start(watch::run);
    return watch;
  }

  @Override
  public void close() throws IOException {
    service.close();
  }

  private void run() {
    try {
      while (true) {
        watchOnce();
        // What happened between the last event and the next watch is not told: look.
        triggers.post(Trigger.CONFIG);
      }
    } catch (ClosedWatchServiceException | InterruptedException ended) {
      // Closed: nobody listens any more.
    }
  }

  /** Watches the directory, or the nearest above it, until it is another one's turn. */
  private void watchOnce() throws InterruptedException {
    Path directory = nearestDirectory();
    WatchKey key;
    try {
      key =
          directory.register(
              service,
              StandardWatchEventKinds.ENTRY_CREATE,
              StandardWatchEventKinds.ENTRY_MODIFY,
              StandardWatchEventKinds.ENTRY_DELETE);
    } catch (IOException gone) {
      TimeUnit.SECONDS.sleep(1);
      return;
    }
    // It may have come to be, or have gone, while it was being registered.
    boolean theConfigs = directory.equals(path) || directory.equals(path.getParent());
    while (directory.equals(nearestDirectory())) {
      settle(service.take());
      if (theConfigs) {
        triggers.post(Trigger.CONFIG);
      }
      if (!key.isValid()) {
        break;
      }
    }
    key.cancel();
  }

  private void settle(WatchKey first) throws InterruptedException {
    WatchKey key = first;
    while (key != null) {
      boolean swapped = false;
      for (WatchEvent<?> event : key.pollEvents()) {
        swapped |= event.context() instanceof Path name && name.endsWith(SWAPPED);
      }
      key.reset();
      key = swapped ? null : service.poll(SETTLE_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  private Path nearestDirectory() {
    Path at = Files.isDirectory(path) ? path : path.getParent();
    while (at != null && !Files.isDirectory(at)) {
      at = at.getParent();
    }
    return at == null ? path.getRoot() : at;
  }
}
