package ipmasq.app;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** The version, as the build wrote it into the jar. */
public final class Version {
  private Version() {}

  public static String text() {
    try (InputStream in = Version.class.getResourceAsStream("version")) {
      return in == null ? "unknown" : new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
    } catch (IOException unreadable) {
      return "unknown";
    }
  }
}
