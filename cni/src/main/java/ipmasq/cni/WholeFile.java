package ipmasq.cni;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Replaces files so that whoever looks, and whatever remains after a kill or a power failure, is
 * the old file or the new one.
 *
 * <pre>
 *   create NAME.ip-masq-agent.PID-N.tmp → owner, mode → force → move over NAME → force directory
 * </pre>
 *
 * The names of what stands beside a file must end in none of {@code .conf}, {@code .conflist} and
 * {@code .json}: a container runtime loads those, also when they begin with a dot.
 */
final class WholeFile {
  private static final String MARK = ".ip-masq-agent.";
  private final Disk disk;
  private long made;

  WholeFile(Disk disk) {
    this.disk = disk;
  }

  /** The copy of a file as it was before the agent first wrote it. */
  static Path backup(Path file) {
    return file.resolveSibling(file.getFileName() + MARK + "bak");
  }

  /** What the agent remembers of a file. */
  static Path memory(Path file) {
    return file.resolveSibling(file.getFileName() + MARK + "own");
  }

  /** Writes {@code file}, with the owner and permissions of {@code like}. */
  void write(Path file, byte[] bytes, Path like) throws IOException {
    sweep(file);
    Path draft =
        file.resolveSibling(
            file.getFileName() + MARK + ProcessHandle.current().pid() + "-" + made++ + ".tmp");
    try {
      disk.create(draft, bytes);
      disk.dress(draft, like);
      disk.force(draft);
      disk.move(draft, file);
    } catch (IOException e) {
      discard(draft, e);
      throw e;
    }
    disk.forceDirectory(directory(file));
  }

  /**
   * Deletes what a killed agent left. A draft of one that lives is no loss either: its move fails,
   * and it tries again.
   */
  void sweep(Path file) throws IOException {
    String start = file.getFileName() + MARK;
    for (Path beside : disk.list(directory(file)).orElse(List.of())) {
      String name = beside.getFileName().toString();
      if (name.startsWith(start) && name.endsWith(".tmp")) {
        disk.delete(beside);
      }
    }
  }

  private void discard(Path draft, IOException why) {
    try {
      disk.delete(draft);
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
