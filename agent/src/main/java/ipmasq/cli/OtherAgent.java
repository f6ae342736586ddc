package ipmasq.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/**
 * An ip-masq-agent that runs on this node and is not ours: a Go agent, known by its executable. Our
 * own processes run {@code java}, and our launcher, a script by that name, runs a shell.
 */
record OtherAgent(long pid) {
  private static final Set<String> NAMES = Set.of("ip-masq-agent", "ip-masq-agent-v2");

  /** What the kernel appends when the file was replaced since the start. */
  private static final String REPLACED = " (deleted)";

  static Optional<OtherAgent> find() {
    return LocalProcesses.first(OtherAgent::recognize);
  }

  private static Optional<OtherAgent> recognize(Path process) {
    try {
      String name = Files.readSymbolicLink(process.resolve("exe")).getFileName().toString();
      String known = name.endsWith(REPLACED) ? name.replace(REPLACED, "") : name;
      return NAMES.contains(known)
          ? Optional.of(new OtherAgent(LocalProcesses.pid(process)))
          : Optional.empty();
    } catch (IOException unknown) {
      return Optional.empty(); // it ended, has no executable, or may not be read
    }
  }

  /** The beginning of a sentence. */
  String words() {
    return "another ip-masq-agent runs here (process " + pid + "), not this one";
  }
}
