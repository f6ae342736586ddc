package ipmasq.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;

/**
 * A directory of this machine's iptables programs that count how often they are run. As in the real
 * place, names are links to one program of each kind, by which an agent tells nft from legacy.
 */
final class CountedPrograms implements AutoCloseable {
  private static final Path REAL = Path.of("/usr/sbin");

  private final Path directory;
  private final Path log;

  CountedPrograms() {
    try (Stream<Path> programs = Files.list(REAL)) {
      directory = Files.createTempDirectory("ipmq-programs-");
      log = Files.createFile(directory.resolve("log"));
      for (Path program : programs.filter(CountedPrograms::counts).toList()) {
        Path script = directory.resolve(program.toRealPath().getFileName());
        if (Files.notExists(script)) {
          write(script);
        }
        Files.createSymbolicLink(directory.resolve(program.getFileName()), script);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean counts(Path program) {
    return program.getFileName().toString().matches("ip6?tables(-nft|-legacy)?(-save|-restore)?");
  }

  private void write(Path script) throws IOException {
    String text =
        """
        #!/bin/sh
        echo "${0##*/}" >> %s
        exec %s/"${0##*/}" "$@"
        """
            .formatted(log, REAL);
    Files.writeString(script, text);
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** What {@code PATH} must be. */
  String path() {
    return directory + ":/usr/sbin:/usr/bin:/sbin:/bin";
  }

  int runs() {
    try {
      return Files.readAllLines(log).size();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
      Files.delete(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
