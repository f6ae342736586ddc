package ipmasq.testkit;

/** How a command ended and what it printed. */
public record Result(String command, int exit, String stdout, String stderr) {
  /** Its output if it succeeded; else an error with its stderr. */
  public String ok() {
    if (exit != 0) {
      throw new AssertionError(this);
    }
    return stdout;
  }

  @Override
  public String toString() {
    return command + "\nexit " + exit + "\n" + stdout + stderr;
  }
}
