package ipmasq.config;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What stood at a path at one moment.
 *
 * @param bytes the file's; null where there is none, or none that can be read
 * @param trouble what is wrong with the path itself; null where nothing is
 */
record Found(Path path, byte @Nullable [] bytes, @Nullable Problem trouble) {

  static Found at(Path path) {
    try {
      return new Found(path, read(path), null);
    } catch (NoSuchFileException _) {
      return new Found(path, null, null);
    } catch (IOException | OutOfMemoryError e) {
      String message = "cannot be read: " + reason(path, e);
      return troubled(path, Problem.Severity.ERROR, message, "check the path and its mount");
    }
  }

  /**
   * By the shortest way there is, for it is gone once a minute and finds all of it cold. Where that
   * ends early, the other way tells exactly why.
   */
  private static byte[] read(Path path) throws IOException {
    try (FileInputStream file = new FileInputStream(path.toFile())) {
      return file.readAllBytes();
    } catch (IOException somehow) {
      return Files.readAllBytes(path);
    }
  }

  static Found troubled(Path path, Problem.Severity severity, String message, String hint) {
    return new Found(path, null, new Problem(severity, path.toString(), 0, 0, message, hint));
  }

  private static String reason(Path path, Throwable e) {
    if (Files.isDirectory(path)) {
      return "it is a directory";
    }
    if (e instanceof AccessDeniedException) {
      return "permission denied";
    }
    // The exception's own words are often just the path.
    String message = e instanceof FileSystemException f ? f.getReason() : e.getMessage();
    return message == null ? "input or output error" : Words.shortened(message);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Found(var otherPath, var otherBytes, var otherTrouble)
        && path.equals(otherPath)
        && Arrays.equals(bytes, otherBytes)
        && Objects.equals(trouble, otherTrouble);
  }

  @Override
  public int hashCode() {
    return path.hashCode();
  }
}
