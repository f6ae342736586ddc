package ipmasq.cni;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.AclFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The file operations, each a single step that may fail or be interrupted. */
class Disk {
  /** A CNI config has some kilobytes; a hundred thousand ranges, four megabytes. */
  static final int LARGEST = 16 << 20;

  /** The bytes of a regular file of bounded size. */
  static byte[] read(Path file) throws IOException {
    // Opening a FIFO waits for a writer, and some devices never end.
    if (!Files.readAttributes(file, BasicFileAttributes.class).isRegularFile()) {
      throw new FileSystemException(file.toString(), null, "it is not a regular file");
    }
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(LARGEST + 1);
      if (bytes.length > LARGEST) {
        throw new FileSystemException(
            file.toString(), null, "it is larger than " + (LARGEST >> 20) + " MiB");
      }
      return bytes;
    }
  }

  static Optional<byte[]> readIfThere(Path file) throws IOException {
    try {
      return Optional.of(read(file));
    } catch (NoSuchFileException missing) {
      return Optional.empty();
    }
  }

  /** The regular files of a directory whose names are wanted, in order. */
  static List<Path> list(Path directory, Predicate<String> wanted) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> wanted.test(String.valueOf(file.getFileName())))
          .filter(Files::isRegularFile)
          .sorted()
          .toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /** Makes a new file that only its owner can read. */
  void create(Path file, byte[] bytes) throws IOException {
    if (hasModes(file)) {
      var ownerOnly = PosixFilePermissions.fromString("rw-------");
      Files.createFile(file, PosixFilePermissions.asFileAttribute(ownerOnly));
    } else {
      Files.createFile(file);
    }
    Files.write(file, bytes);
  }

  private static boolean hasModes(Path file) {
    return file.getFileSystem().supportedFileAttributeViews().contains("posix");
  }

  /**
   * Gives a file the owner and the permissions of another one. A wrong owner or mode would be worse
   * than an unwritten file, so it is an error if they cannot be kept.
   */
  void copyPermissions(Path file, Path like) throws IOException {
    if (hasModes(file)) {
      PosixFileAttributeView view = posix(file);
      PosixFileAttributes is = view.readAttributes();
      PosixFileAttributes wanted = posix(like).readAttributes();
      if (!is.owner().equals(wanted.owner())) {
        view.setOwner(wanted.owner());
      }
      if (!is.group().equals(wanted.group())) {
        view.setGroup(wanted.group());
      }
      view.setPermissions(wanted.permissions()); // last: chown may clear bits
      return;
    }
    AclFileAttributeView view = Files.getFileAttributeView(file, AclFileAttributeView.class);
    AclFileAttributeView wanted = Files.getFileAttributeView(like, AclFileAttributeView.class);
    if (view != null && wanted != null) {
      view.setAcl(wanted.getAcl());
    }
  }

  private static PosixFileAttributeView posix(Path file) {
    return Files.getFileAttributeView(
        file, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
  }

  /** Waits until a file's bytes are on the medium. */
  void force(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.force(true);
    }
  }

  void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
  }

  /** Waits until a directory's entries are on the medium, if the system supports that. */
  void forceDirectory(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    } catch (IOException notOffered) {
      // Windows opens no directories, some file systems flush none. The move is done all the same;
      // after a power failure the old file may be back, and the next sync repairs it.
    }
  }

  void delete(Path file) throws IOException {
    Files.deleteIfExists(file);
  }
}
