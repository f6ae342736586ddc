package ipmasq.cli;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;

/** The other processes in this process's network namespace: those elsewhere keep other rules. */
final class LocalProcesses {
  static final Path PROC = Path.of("/proc");

  private LocalProcesses() {}

  /**
   * The first of them that this recognizes by its directory below {@code /proc}. One whose
   * namespace may not be read is not said to be here.
   */
  static <T> Optional<T> first(Function<Path, Optional<T>> recognize) {
    Optional<Path> here = networkNamespace(PROC.resolve("self"));
    String self = String.valueOf(ProcessHandle.current().pid());
    if (here.isEmpty()) {
      return Optional.empty();
    }
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[0-9]*")) {
      for (Path process : processes) {
        Optional<T> found = process.endsWith(self) ? Optional.empty() : recognize.apply(process);
        if (found.isPresent() && networkNamespace(process).equals(here)) {
          return found;
        }
      }
    } catch (IOException noProc) {
      return Optional.empty();
    }
    return Optional.empty();
  }

  /** Empty if it may not be read, or the process has ended. */
  private static Optional<Path> networkNamespace(Path process) {
    try {
      return Optional.of(Files.readSymbolicLink(process.resolve("ns/net")));
    } catch (IOException unknown) {
      return Optional.empty();
    }
  }

  static long pid(Path process) {
    return Long.parseLong(process.getFileName().toString());
  }
}
