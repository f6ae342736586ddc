package ipmasq.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The refusal of a config that does not fit in the agent's memory: it counts as a bad file. */
public final class TooLarge {
  private TooLarge() {}

  /** The default is in java.args; the operator can change it. */
  public static String advice() {
    return "fewer ranges, or more memory: _JAVA_OPTIONS=-Xmx256m in the agent's environment, and a"
        + " memory limit to match";
  }

  /** The agent's memory. */
  public static String memory() {
    return "a heap of " + (Runtime.getRuntime().maxMemory() >> 20) + " MiB";
  }

  /** Refuses what was read. */
  public static Reading.Rejected of(List<Reading.SourceFile> sources) {
    String file = sources.isEmpty() ? "config" : sources.getFirst().path().toString();
    Problem problem =
        new Problem(
            Problem.Severity.ERROR,
            file,
            0,
            0,
            "too large for the agent, which has " + memory(),
            advice());
    return new Reading.Rejected(List.of(problem), sources);
  }

  /** Refuses what could not even be read. */
  public static Reading.Rejected unread(List<Path> paths) {
    return of(
        paths.stream()
            .map(path -> new Reading.SourceFile(path, Optional.<FileBytes>empty()))
            .toList());
  }
}
