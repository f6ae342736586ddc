package ipmasq.cni;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The few things that are done to files, each one step that may fail or be the last. */
interface Disk {
  /** The bytes of a file; empty where it does not exist. */
  Optional<byte[]> read(Path file) throws IOException;

  /** The plain files of a directory, by name; empty where it is no directory. */
  Optional<List<Path>> list(Path directory) throws IOException;

  /** The file that a path leads to, symbolic links followed. */
  Path real(Path path) throws IOException;

  /** Makes a new file that only its owner can read. */
  void create(Path file, byte[] bytes) throws IOException;

  /** Gives a file the owner and the permissions of another one. */
  void copyPermissions(Path file, Path like) throws IOException;

  /** Waits until a file's bytes are on the medium. */
  void force(Path file) throws IOException;

  /** Puts a file in the place of another one, so that everybody sees the old or the new one. */
  void move(Path from, Path to) throws IOException;

  /** Waits until a directory's entries are on the medium, where the system offers that. */
  void forceDirectory(Path directory) throws IOException;

  /** Deletes a file if it is there. */
  void delete(Path file) throws IOException;
}
