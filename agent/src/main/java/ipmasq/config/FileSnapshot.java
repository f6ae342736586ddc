package ipmasq.config;

import ipmasq.config.Problem.Place;
import ipmasq.config.Problem.Severity;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What was at a path at one moment. Equal if path, bytes and problem are. */
public final class FileSnapshot {
  private static final long HEAP = Runtime.getRuntime().maxMemory();

  /**
   * How large a config may be, so that it fits in the heap beside the one that is in force: the
   * bytes of all files, since the bytes, the text, and its values are in memory at once. With the
   * heap that {@code java.args} gives, 100,000 ranges fit.
   */
  static final int MAX_BYTES = (int) Math.min(HEAP / 18, 256 << 20);

  /** Ranges, and whatever else the files list. */
  static final int MAX_VALUES = (int) Math.min(HEAP / 930, 2_000_000);

  /** The heap is in java.args; the operator can change it. */
  static final String ADVICE =
      "fewer ranges, or more memory: _JAVA_OPTIONS=-Xmx256m in the agent's environment, and a"
          + " memory limit to match";

  private final Path path;
  private final byte @Nullable [] bytes;
  private final Optional<Problem> problem;
  private @Nullable String hash;

  private FileSnapshot(Path path, byte @Nullable [] bytes, Optional<Problem> problem) {
    this.path = path;
    this.bytes = bytes;
    this.problem = problem;
  }

  /** A file with these bytes, which nobody may change any more. */
  public static FileSnapshot of(Path path, byte[] bytes) {
    return new FileSnapshot(path, bytes, Optional.empty());
  }

  static FileSnapshot missing(Path path) {
    return new FileSnapshot(path, null, Optional.empty());
  }

  static FileSnapshot with(Path path, Severity severity, String message, String hint) {
    Problem problem = new Problem(severity, Place.of(path.toString()), message, hint);
    return new FileSnapshot(path, null, Optional.of(problem));
  }

  /** Reads a stream that is not a file, up to its end. */
  public static FileSnapshot from(Path path, InputStream in) {
    return from(path, in, MAX_BYTES);
  }

  private static FileSnapshot from(Path path, InputStream in, int most) {
    try {
      byte[] bytes = in.readNBytes(most + 1);
      return bytes.length > most
          ? tooLarge(path, "goes on after " + megabytes(most))
          : of(path, bytes);
    } catch (IOException e) {
      return unreadable(path, reason(e));
    }
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
        return unreadable(path, "it is not a file");
      }
      if (attributes.size() > most) {
        return tooLarge(path, "is " + megabytes(attributes.size()));
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
    String limit = "at most " + megabytes(MAX_BYTES) + " fit in a heap of " + megabytes(HEAP);
    return with(
        path,
        Severity.ERROR,
        "too large for the agent: the file " + what + ", and " + limit,
        "check that it is the right file; " + ADVICE);
  }

  static String values() {
    return String.format(
        Locale.ROOT, "at most %,d values fit in a heap of %s", MAX_VALUES, megabytes(HEAP));
  }

  private static String megabytes(long bytes) {
    return String.format(Locale.ROOT, "%.1f MB", bytes / 1e6);
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
        : Words.shortened(message);
  }

  public Path path() {
    return path;
  }

  /** What is wrong with the path itself. */
  Optional<Problem> problem() {
    return problem;
  }

  /** Whether there was a file that could be read. */
  public boolean isThere() {
    return bytes != null;
  }

  int size() {
    return bytes == null ? 0 : bytes.length;
  }

  /** The SHA-256 of its bytes in hex, as {@code sha256sum} prints it; empty without a file. */
  public synchronized Optional<String> hash() {
    if (hash == null && bytes != null) {
      try {
        hash = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("every JDK has SHA-256", e);
      }
    }
    return Optional.ofNullable(hash);
  }

  /**
   * The characters: UTF-8, perhaps with a byte order mark. Empty without a file, or if it is not.
   */
  Optional<String> text(Problems problems) {
    if (bytes == null) {
      return Optional.empty();
    }
    int two = bytes.length < 2 ? 0 : (bytes[0] & 0xff) << 8 | bytes[1] & 0xff;
    if (two == 0xfffe || two == 0xfeff) {
      problems.error(
          new Place(path.toString(), 1, 1),
          "the file is UTF-16",
          "save it as UTF-8; PowerShell's > writes UTF-16, | Out-File -Encoding utf8 does not");
      return Optional.empty();
    }
    int mark = two == 0xefbb && bytes.length > 2 && bytes[2] == (byte) 0xbf ? 3 : 0;
    CharBuffer out = CharBuffer.allocate(bytes.length);
    ByteBuffer in = ByteBuffer.wrap(bytes, mark, bytes.length - mark);
    CoderResult result = StandardCharsets.UTF_8.newDecoder().decode(in, out, true);
    String text = out.flip().toString();
    if (result.isError()) {
      problems.error(
          Place.of(path.toString(), text, text.length()),
          "not valid UTF-8",
          "save the file as UTF-8");
      return Optional.empty();
    }
    return Optional.of(text);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof FileSnapshot that
        && path.equals(that.path)
        && Arrays.equals(bytes, that.bytes)
        && problem.equals(that.problem);
  }

  @Override
  public int hashCode() {
    return path.hashCode();
  }

  @Override
  public String toString() {
    return path + (bytes == null ? "" : ", " + bytes.length + " bytes");
  }
}
