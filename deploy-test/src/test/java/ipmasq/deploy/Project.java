package ipmasq.deploy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The files of the project, wherever the test was started. */
public final class Project {
  private Project() {}

  public static final Path ROOT = root();

  public static Path file(String path) {
    return ROOT.resolve(path);
  }

  public static String text(String path) throws IOException {
    return Files.readString(file(path));
  }

  /** The version that everything must have. */
  static String version() throws IOException {
    return text("VERSION").strip();
  }

  private static Path root() {
    var given = System.getProperty("ipmasq.project");
    var path = given == null ? Path.of("").toAbsolutePath() : Path.of(given);
    while (path != null && !Files.exists(path.resolve("ip-masq-agent.yaml"))) {
      path = path.getParent();
    }
    if (path == null) {
      throw new IllegalStateException("run this inside the project");
    }
    return path;
  }
}
