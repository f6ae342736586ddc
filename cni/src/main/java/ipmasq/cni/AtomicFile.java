package ipmasq.cni;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Replaces files atomically: readers see the old file or the new one, even after a kill or a power
 * failure.
 *
 * <pre>
 *   create NAME.ip-masq-agent.PID-N.tmp → owner, mode → force → move over NAME → force directory
 * </pre>
 *
 * The names of companion files must not end in {@code .conf}, {@code .conflist} or {@code .json}: a
 * container runtime loads those, even if they begin with a dot.
 */
final class AtomicFile {
  private static final String INFIX = ".ip-masq-agent.";

  private final Disk disk;
  private long made;

  AtomicFile(Disk disk) {
    this.disk = disk;
  }

  /** The copy of a file as it was before the agent first wrote it. */
  static Path backup(Path file) {
    return file.resolveSibling(file.getFileName() + INFIX + "bak");
  }

  /** The list of entries that the agent put into a file. */
  static Path owned(Path file) {
    return file.resolveSibling(file.getFileName() + INFIX + "own");
  }

  /** Writes {@code file}, with the owner and permissions of {@code like}. */
  void write(Path file, byte[] bytes, Path like) throws IOException {
    deleteTemporaries(file);
    Path temporary =
        file.resolveSibling(
            file.getFileName() + INFIX + ProcessHandle.current().pid() + "-" + made++ + ".tmp");
    try {
      disk.create(temporary, bytes);
      disk.copyPermissions(temporary, like);
      disk.force(temporary);
      disk.move(temporary, file);
    } catch (IOException e) {
      discard(temporary, e);
      throw e;
    }
    disk.forceDirectory(directory(file));
  }

  /**
   * Deletes temporary files of a killed agent. Deleting one of a live agent does no harm: its move
   * fails, and it tries again.
   */
  void deleteTemporaries(Path file) throws IOException {
    String start = file.getFileName() + INFIX;
    for (Path each :
        Disk.list(directory(file), name -> name.startsWith(start) && name.endsWith(".tmp"))) {
      disk.delete(each);
    }
  }

  private void discard(Path temporary, IOException why) {
    try {
      disk.delete(temporary);
    } catch (IOException e) {
      why.addSuppressed(e);
    }
  }

  void delete(Path file) throws IOException {
    disk.delete(file);
    disk.forceDirectory(directory(file));
  }

  private static Path directory(Path file) {
    Path parent = file.toAbsolutePath().getParent();
    return parent == null ? file : parent;
  }
}
