package ipmasq.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The processes of a network namespace, by its name. */
record Pids(String namespace) {
  List<Long> all() {
    try {
      Process ip =
          new ProcessBuilder("ip", "netns", "pids", namespace).redirectErrorStream(true).start();
      String printed = new String(ip.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return printed.lines().map(Long::valueOf).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
