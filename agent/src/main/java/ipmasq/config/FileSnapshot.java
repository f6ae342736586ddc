package ipmasq.config;

import ipmasq.config.Problem.Severity;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;

/**
 * What was at a path at one moment.
 *
 * @param bytes the file's; empty if there is none, or none that can be read
 * @param problem what is wrong with the path itself
 */
public record FileSnapshot(Path path, Optional<FileBytes> bytes, Optional<Problem> problem) {
  private static final int S_IFMT = 0xf000;
  private static final int S_IFIFO = 0x1000;
  private static final int S_IFCHR = 0x2000;
  private static final int S_IFBLK = 0x6000;
  private static final int S_IFSOCK = 0xc000;

  /** Reads a stream that is not a file, up to its end. */
  public static FileSnapshot from(Path path, InputStream in) {
    return from(path, in, SizeLimit.BYTES);
  }

  private static FileSnapshot from(Path path, InputStream in, int most) {
    try {
      byte[] bytes = in.readNBytes(most + 1);
      return bytes.length > most
          ? tooLarge(path, "goes on after " + SizeLimit.megabytes(most))
          : of(path, bytes);
    } catch (IOException e) {
      return unreadable(path, reason(e));
    }
  }

  static FileSnapshot of(Path path, byte[] bytes) {
    return new FileSnapshot(path, Optional.of(new FileBytes(bytes)), Optional.empty());
  }

  static FileSnapshot missing(Path path) {
    return new FileSnapshot(path, Optional.empty(), Optional.empty());
  }

  static FileSnapshot with(Path path, Severity severity, String message, String hint) {
    Problem problem = new Problem(severity, path.toString(), 0, 0, message, hint);
    return new FileSnapshot(path, Optional.empty(), Optional.of(problem));
  }

  /**
   * Reads a file. Only a regular one is opened, after links were followed: opening a FIFO waits for
   * a writer, and some devices never end.
   *
   * @param most how many bytes it may have
   */
  static FileSnapshot at(Path path, int most) {
    try {
      BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
      if (!attributes.isRegularFile()) {
        return unreadable(path, "it is " + kind(path, attributes) + ", not a file");
      }
      if (attributes.size() > most) {
        return tooLarge(path, "is " + SizeLimit.megabytes(attributes.size()));
      }
      try (InputStream in = Files.newInputStream(path)) {
        return from(path, in, most); // files in /proc claim to be empty, and any file may grow
      }
    } catch (NoSuchFileException _) {
      Path parent = path.toAbsolutePath().getParent();
      return parent != null && Files.exists(parent) && !Files.isDirectory(parent)
          ? unreadable(path, parent + " is not a directory")
          : missing(path);
    } catch (IOException e) {
      return unreadable(path, reason(e));
    }
  }

  private static FileSnapshot unreadable(Path path, String why) {
    return with(
        path, Severity.ERROR, "cannot be read: " + why, "check the path, its links and its mount");
  }

  private static FileSnapshot tooLarge(Path path, String what) {
    return with(
        path,
        Severity.ERROR,
        "too large for the agent: the file " + what + ", and " + SizeLimit.bytes(),
        "check that it is the right file; " + SizeLimit.advice());
  }

  private static String kind(Path path, BasicFileAttributes attributes) throws IOException {
    if (attributes.isDirectory()) {
      return "a directory";
    }
    try {
      int mode = (Integer) Files.getAttribute(path, "unix:mode");
      return switch (mode & S_IFMT) {
        case S_IFIFO -> "a FIFO";
        case S_IFCHR, S_IFBLK -> "a device";
        case S_IFSOCK -> "a socket";
        default -> "something special";
      };
    } catch (UnsupportedOperationException | IllegalArgumentException notUnix) {
      return "something special";
    }
  }

  private static String reason(IOException e) {
    if (e instanceof AccessDeniedException) {
      return "permission denied";
    }
    // The exception's own words are often just the path.
    String message = e instanceof FileSystemException f ? f.getReason() : e.getMessage();
    if (message == null) {
      return "input or output error";
    }
    return message.startsWith("Too many levels of symbolic links")
        ? "it is a symbolic link that leads back to itself"
        : Phrases.shortened(message);
  }
}
