package ipmasq.iptables;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/** Runs a program to its end. */
public interface Commands {
  /**
   * Feeds {@code input} to the program and its output, line by line, to {@code lines}. Never
   * throws, and returns soon after the deadline at the latest.
   *
   * @param command the program's name, looked up on PATH, and its arguments
   */
  CommandResult run(List<String> command, String input, Consumer<String> lines);

  /** How it ended. */
  sealed interface CommandResult {
    /**
     * By itself.
     *
     * @param errors what it wrote to its standard error, truncated if long
     */
    record Ended(int status, String errors) implements CommandResult {}

    /** It was never started: no such program. */
    record Missing(String searched) implements CommandResult {}

    /** It did not end in time and was killed. */
    record Overran(Duration deadline, String errors) implements CommandResult {}

    /** It could not be started, or its pipes broke. */
    record Broken(String why) implements CommandResult {}
  }
}
