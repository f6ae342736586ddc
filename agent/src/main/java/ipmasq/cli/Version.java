package ipmasq.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** The version, as the build wrote it into the jar. */
final class Version {
  private Version() {}

  static int print(PrintStream out) {
    out.println("ip-masq-agent " + text());
    return Main.OK;
  }

  static String text() {
    try (InputStream in = Version.class.getResourceAsStream("version")) {
      return in == null ? "unknown" : new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
    } catch (IOException unreadable) {
      return "unknown";
    }
  }
}
