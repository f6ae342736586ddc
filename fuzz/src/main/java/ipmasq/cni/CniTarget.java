package ipmasq.cni;

import ipmasq.net.Cidr;
import ipmasq.net.Family;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;

/** A CNI config is left alone, or edited to one that holds what is wanted and needs no edit. */
public final class CniTarget {
  private static final LinkedHashSet<Cidr> WANTED =
      new LinkedHashSet<>(List.of(Cidr.of("10.0.0.0/8"), Cidr.of("172.16.0.0/12")));

  private CniTarget() {}

  public static void fuzzerTestOneInput(byte[] data) {
    try {
      Path directory = Files.createTempDirectory("cni");
      try {
        check(Files.write(directory.resolve("net.conf"), data));
      } finally {
        delete(directory);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void check(Path file) throws IOException {
    if (!edit(file)) {
      return;
    }
    byte[] once = Files.readAllBytes(file);
    if (!edit(file)) {
      throw new AssertionError("no longer a config: " + new String(once, StandardCharsets.UTF_8));
    }
    if (!Arrays.equals(once, Files.readAllBytes(file))) {
      throw new AssertionError("edited again: " + new String(once, StandardCharsets.UTF_8));
    }
  }

  private static void delete(Path directory) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        Files.delete(file);
      }
    }
    Files.delete(directory);
  }

  /** Whether it is a config with a list; brings the list of IPv4 to what is wanted. */
  private static boolean edit(Path file) {
    CniConfig.Found found = CniConfig.find(file);
    return found
        .config()
        .filter(config -> config.list(Family.IPV4).isPresent())
        .map(config -> new CniWriter(new AtomicFile(new Unforced()), config, Family.IPV4, false))
        .filter(writer -> writer.write(WANTED).isEmpty())
        .isPresent();
  }

  /** The real disk, without waiting for the medium. */
  private static final class Unforced extends Disk {
    @Override
    void force(Path file) {}

    @Override
    void forceDirectory(Path directory) {}
  }
}
