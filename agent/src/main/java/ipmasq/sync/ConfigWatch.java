package ipmasq.sync;

import ipmasq.config.ConfigPaths;
import ipmasq.config.FileSnapshot;
import ipmasq.thread.Daemon;
import java.io.IOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the config files on a thread of its own, and posts {@link Trigger#CONFIG} when they have
 * changed. A mount that does not answer holds up this thread and nobody else.
 *
 * <p>The thread waits for inotify events and also checks the files' attributes once per second,
 * because events can be missing: inotify may be unavailable, and the directory may be moved or
 * mounted over. Directories are watched, not files: a ConfigMap volume changes by swapping its
 * {@code ..data} link, and editors rename a new file into place.
 */
public final class ConfigWatch implements AutoCloseable {
  /** After this time without an answer, the file counts as a bad one. */
  public static final Duration PATIENCE = Duration.ofSeconds(2);

  private static final long POLL_MILLIS = 1_000;

  /** A file that is written in place may be half written until it has not changed for so long. */
  private static final long QUIET_MILLIS = 300;

  /** A file that never settles is read after this time. */
  private static final long QUIET_AT_MOST_NANOS = 3_000_000_000L;

  /** The link that a ConfigMap volume swaps: the files behind it are always whole. */
  private static final String SWAPPED = "..data";

  private final ConfigPaths configs;
  private final Trigger.Queue triggers;
  private final Consumer<String> warnings;
  private final CountDownLatch closed = new CountDownLatch(1);

  // Used by the thread alone.
  private @Nullable WatchService service;
  private boolean warned;

  // Guarded by this.
  private List<FileSnapshot> files = List.of();
  private boolean asking = true; // until it has been read once
  private long askingSince = System.nanoTime();
  private Path askingFor;
  private boolean overdue;

  private ConfigWatch(ConfigPaths configs, Trigger.Queue triggers, Consumer<String> warnings) {
    this.configs = configs;
    this.triggers = triggers;
    this.warnings = warnings;
    this.askingFor = configs.paths().getFirst();
  }

  /**
   * Starts to read and to watch.
   *
   * @param warnings receives one warning if the kernel offers no watch
   */
  public static ConfigWatch start(
      ConfigPaths configs, Trigger.Queue triggers, Consumer<String> warnings) {
    ConfigWatch watch = new ConfigWatch(configs, triggers, warnings);
    Daemon.startForGood("config", watch::run);
    return watch;
  }

  /** The files as last read; empty if they cannot be read because their mount does not answer. */
  public synchronized Optional<List<FileSnapshot>> files() {
    try {
      for (long left = left(); asking && left > 0; left = left()) {
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
    overdue |= asking;
    return asking ? Optional.empty() : Optional.of(files);
  }

  /** The path that is being read, or was last. */
  public synchronized Path reading() {
    return askingFor;
  }

  /** Whether a mount does not answer, and nobody has been told of it yet. */
  public synchronized boolean overdue() {
    return asking && !overdue && left() <= 0;
  }

  private long left() {
    return askingSince + PATIENCE.toNanos() - System.nanoTime();
  }

  @Override
  public void close() {
    closed.countDown();
  }

  private void run() {
    List<Object> seen = stamps();
    read();
    try (WatchService opened = open()) {
      service = opened;
      while (closed.getCount() > 0) {
        List<Object> now = stamps();
        if (now.equals(seen)) {
          rest();
        } else {
          seen = settled(now);
          read();
        }
      }
    } catch (IOException | ClosedWatchServiceException | InterruptedException ended) {
      // Closed.
    }
  }

  private @Nullable WatchService open() {
    try {
      return FileSystems.getDefault().newWatchService();
    } catch (IOException noInstance) {
      unwatched(configs.paths().getFirst(), noInstance);
      return null;
    }
  }

  private void unwatched(Path path, IOException why) {
    if (!warned) {
      warned = true;
      warnings.accept(
          path + " cannot be watched (" + why.getMessage() + "): it is read once a second");
    }
  }

  private synchronized void begin(Path path) {
    if (!asking) {
      asking = true;
      askingSince = System.nanoTime();
    }
    askingFor = path;
  }

  private synchronized void end(@Nullable List<FileSnapshot> found) {
    boolean first = files.isEmpty();
    boolean news = overdue || found != null && !found.equals(files);
    files = found != null && news ? found : files;
    asking = files.isEmpty();
    overdue = false;
    notifyAll();
    if (news && !first) {
      triggers.post(Trigger.CONFIG);
    }
  }

  private void read() {
    begin(configs.paths().getFirst());
    end(configs.read(this::begin));
  }

  /** Stamps that change with the files, or with any file of a directory; watches them, too. */
  private List<Object> stamps() {
    List<Object> all = new ArrayList<>();
    for (Path path : configs.paths()) {
      begin(path);
      watch(path.toAbsolutePath());
      all.add(stamp(path));
      if (Files.isDirectory(path)) {
        try (DirectoryStream<Path> inside = Files.newDirectoryStream(path)) {
          inside.forEach(file -> all.add(List.of(file, stamp(file))));
        } catch (IOException gone) {
          all.add("unreadable");
        }
      }
    }
    end(null);
    return all;
  }

  /** The time of the last change of any kind: nobody can set it. */
  private static Object stamp(Path file) {
    try {
      return Files.readAttributes(file, "unix:ino,dev,size,lastModifiedTime,ctime");
    } catch (IOException | UnsupportedOperationException none) {
      return "none";
    }
  }

  /** Watches the directory of a path, again if it is another by now; if it is missing, polls. */
  private void watch(Path path) {
    Path directory = Files.isDirectory(path) ? path : path.getParent();
    try {
      if (service != null && directory != null && Files.isDirectory(directory)) {
        directory.register(
            service,
            StandardWatchEventKinds.ENTRY_CREATE,
            StandardWatchEventKinds.ENTRY_MODIFY,
            StandardWatchEventKinds.ENTRY_DELETE);
      }
    } catch (IOException unwatchable) {
      unwatched(path, unwatchable);
    }
  }

  /** Waits until something happens in a watched directory, but not for long. */
  private void rest() throws InterruptedException {
    if (service == null) {
      closed.await(POLL_MILLIS, TimeUnit.MILLISECONDS);
      return;
    }
    WatchKey key = service.poll(POLL_MILLIS, TimeUnit.MILLISECONDS);
    for (; key != null; key = service.poll()) {
      key.pollEvents(); // the stamps tell what happened
      key.reset();
    }
  }

  /** Waits until the files have not changed for a while, unless they are always whole. */
  private List<Object> settled(List<Object> changed) throws InterruptedException {
    long end = System.nanoTime() + QUIET_AT_MOST_NANOS;
    List<Object> before;
    List<Object> now = changed;
    do {
      before = now;
      if (areSwapped() || closed.await(QUIET_MILLIS, TimeUnit.MILLISECONDS)) {
        break;
      }
      now = stamps();
    } while (!now.equals(before) && System.nanoTime() - end < 0);
    return now;
  }

  private boolean areSwapped() {
    return configs.paths().stream()
        .allMatch(
            path ->
                Files.exists(
                    Files.isDirectory(path)
                        ? path.resolve(SWAPPED)
                        : path.resolveSibling(SWAPPED)));
  }
}
