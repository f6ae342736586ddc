package ipmasq.cni;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.AclFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** The files of this machine. */
final class RealDisk implements Disk {
  /** A CNI config has some kilobytes; a hundred thousand ranges, four megabytes. */
  static final int LARGEST = 16 << 20;

  @Override
  public Optional<byte[]> read(Path file) throws IOException {
    Optional<BasicFileAttributes> attributes = attributes(file);
    if (attributes.isEmpty()) {
      return Optional.empty();
    }
    // Opening a FIFO waits for a writer, and some devices never end.
    if (!attributes.get().isRegularFile()) {
      throw new FileSystemException(file.toString(), null, "it is not a regular file");
    }
    if (attributes.get().size() > LARGEST) {
      throw tooLarge(file);
    }
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(LARGEST + 1); // it may have grown meanwhile
      if (bytes.length > LARGEST) {
        throw tooLarge(file);
      }
      return Optional.of(bytes);
    } catch (NoSuchFileException missing) {
      return Optional.empty();
    }
  }

  private static IOException tooLarge(Path file) {
    return new FileSystemException(
        file.toString(), null, "it is larger than " + (LARGEST >> 20) + " MiB");
  }

  private static Optional<BasicFileAttributes> attributes(Path file) throws IOException {
    try {
      return Optional.of(Files.readAttributes(file, BasicFileAttributes.class));
    } catch (NoSuchFileException missing) {
      return Optional.empty();
    }
  }

  @Override
  public Optional<Stamp> stamp(Path file) throws IOException {
    return attributes(file).map(it -> new Stamp(it.fileKey(), it.lastModifiedTime(), it.size()));
  }

  @Override
  public Optional<List<Path>> list(Path directory, Predicate<String> wanted, int most)
      throws IOException {
    if (!Files.isDirectory(directory)) {
      return Optional.empty();
    }
    List<Path> files = new ArrayList<>();
    DirectoryStream.Filter<Path> filter =
        entry -> wanted.test(entry.getFileName().toString()) && Files.isRegularFile(entry);
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory, filter)) {
      Iterator<Path> each = entries.iterator();
      while (files.size() < most && each.hasNext()) {
        files.add(each.next());
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    Collections.sort(files);
    return Optional.of(files);
  }

  @Override
  public Path real(Path path) throws IOException {
    return path.toRealPath();
  }

  @Override
  public void create(Path file, byte[] bytes) throws IOException {
    Set<OpenOption> options = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    try (FileChannel channel = FileChannel.open(file, options, ownerOnly(file))) {
      ByteBuffer left = ByteBuffer.wrap(bytes);
      while (left.hasRemaining()) {
        channel.write(left);
      }
    }
  }

  private static FileAttribute<?>[] ownerOnly(Path file) {
    return hasModes(file)
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
        }
        : new FileAttribute<?>[0];
  }

  private static boolean hasModes(Path file) {
    return file.getFileSystem().supportedFileAttributeViews().contains("posix");
  }

  /**
   * A wrong owner or mode would be worse than an unwritten file, so it is an error if they cannot
   * be kept.
   */
  @Override
  public void copyPermissions(Path file, Path like) throws IOException {
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

  @Override
  public void force(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.force(true);
    }
  }

  @Override
  public void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
  }

  @Override
  public void forceDirectory(Path directory) {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    } catch (IOException notOffered) {
      // Windows opens no directories, some file systems flush none. The move is done all the same;
      // after a power failure the old file may be back, and the next pass repairs it.
    }
  }

  @Override
  public void delete(Path file) throws IOException {
    Files.deleteIfExists(file);
  }
}
