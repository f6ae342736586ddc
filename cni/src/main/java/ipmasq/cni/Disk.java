package ipmasq.cni;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The file operations, each a single step that may fail or be interrupted. */
interface Disk {
  /** The bytes of a regular file of bounded size; empty if it does not exist. */
  Optional<byte[]> read(Path file) throws IOException;

  /**
   * The regular files of a directory whose names are wanted, in order; empty if it is no directory.
   *
   * @param most how many to return at most; if there are more, any of them
   */
  Optional<List<Path>> list(Path directory, Predicate<String> wanted, int most) throws IOException;

  /** What tells a file from an earlier or another one without opening it; empty: there is none. */
  Optional<Stamp> stamp(Path file) throws IOException;

  /**
   * What the file system says of a file.
   *
   * @param key which file it is, not under which name; Windows has none
   */
  record Stamp(@Nullable Object key, FileTime modified, long size) {}

  /** The file that a path leads to, symbolic links followed. */
  Path real(Path path) throws IOException;

  /** Makes a new file that only its owner can read. */
  void create(Path file, byte[] bytes) throws IOException;

  /** Gives a file the owner and the permissions of another one. */
  void copyPermissions(Path file, Path like) throws IOException;

  /** Waits until a file's bytes are on the medium. */
  void force(Path file) throws IOException;

  /** Replaces a file atomically with another one. */
  void move(Path from, Path to) throws IOException;

  /** Waits until a directory's entries are on the medium, if the system supports that. */
  void forceDirectory(Path directory) throws IOException;

  /** Deletes a file if it is there. */
  void delete(Path file) throws IOException;
}
