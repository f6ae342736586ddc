package ipmasq.cni;

import ipmasq.backend.Watch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Tells by file stamps whether CNI configs or their companion files may have changed. No file is
 * opened. Used by one thread.
 */
final class CniWatch implements Watch {
  private final Path path;
  private long reads;

  CniWatch(Path path) {
    this.path = path;
  }

  @Override
  public Optional<Object> fingerprint() {
    List<Object> stamps = new ArrayList<>(List.of(reads));
    try {
      for (Path config : CniConfig.paths(path)) {
        Path real = config.toRealPath();
        for (Path file : List.of(real, AtomicFile.backup(real), AtomicFile.owned(real))) {
          stamps.add(stamp(file));
        }
      }
    } catch (IOException e) {
      stamps.add(e.toString());
    }
    return Optional.of(stamps);
  }

  /** What tells a file from an earlier or another one; Windows has no key for a file. */
  private static Object stamp(Path file) throws IOException {
    try {
      BasicFileAttributes it = Files.readAttributes(file, BasicFileAttributes.class);
      return Arrays.asList(file, it.fileKey(), it.lastModifiedTime(), it.size());
    } catch (NoSuchFileException missing) {
      return file;
    }
  }

  /**
   * Never equal to an earlier mark. A writer that preserves a file's size and time can hide a
   * change from its stamp, so every sync reads the files; they are few and small.
   */
  @Override
  public Optional<Object> freshFingerprint() {
    reads++;
    return fingerprint();
  }
}
