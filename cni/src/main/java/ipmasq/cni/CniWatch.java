package ipmasq.cni;

import ipmasq.backend.Watch;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Tells by file stamps whether CNI configs or their companion files may have changed. No file is
 * opened. Used by one thread.
 */
final class CniWatch implements Watch {
  private final Disk disk;
  private final Path path;
  private long looks;

  CniWatch(Disk disk, Path path) {
    this.disk = disk;
    this.path = path;
  }

  /**
   * How the files looked from outside.
   *
   * @param looks which look at the files themselves came before
   * @param problem why they could not be looked at; empty: they could
   */
  private record Stamps(long looks, Map<Path, Disk.Stamp> files, String problem) {}

  @Override
  public Optional<Object> fingerprint() {
    Map<Path, Disk.Stamp> files = new HashMap<>();
    String problem = "";
    try {
      for (Path config : CniConfig.paths(disk, path)) {
        Path real = disk.real(config);
        for (Path file : List.of(real, AtomicFile.backup(real), AtomicFile.owned(real))) {
          disk.stamp(file).ifPresent(stamp -> files.put(file, stamp));
        }
      }
    } catch (IOException e) {
      problem = e.toString();
    }
    return Optional.of(new Stamps(looks, files, problem));
  }

  /**
   * Never equal to an earlier mark. A writer that preserves a file's size and time can hide a
   * change from its stamp, so every pass reads the files; they are few and small.
   */
  @Override
  public Optional<Object> freshFingerprint() {
    looks++;
    return fingerprint();
  }
}
