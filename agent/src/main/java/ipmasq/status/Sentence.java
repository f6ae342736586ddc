package ipmasq.status;

import ipmasq.config.Config;
import ipmasq.config.Reading;
import ipmasq.loop.Pass.Basis;

/** The state of the node in one sentence for people. */
final class Sentence {
  private Sentence() {}

  static String of(Status status) {
    if (!status.ready()) {
      return "Not ready: " + String.join("; ", status.reasons()) + ".";
    }
    if (status.last().pending()) {
      return "Dry run: the rules are not what "
          + source(status)
          + " asks for, and nothing is written.";
    }
    return families(status.last().config())
        + " masquerading is in force, as "
        + source(status)
        + " says.";
  }

  private static String families(Config config) {
    return config.enableIpv6() ? "IPv4 and IPv6" : "IPv4";
  }

  private static String source(Status status) {
    long found =
        status.last().sources().stream().filter(source -> source.bytes().isPresent()).count();
    if (found == 0 || status.last().basis() != Basis.FILE) {
      return "the built-in default";
    }
    if (found > 1) {
      return "the config in " + found + " files";
    }
    return status.last().sources().stream()
        .filter(source -> source.bytes().isPresent())
        .map(Reading.Source::path)
        .findFirst()
        .orElseThrow()
        .toString();
  }
}
