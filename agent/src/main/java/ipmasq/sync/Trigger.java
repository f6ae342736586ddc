package ipmasq.sync;

/** Why the loop wakes up. */
public enum Trigger {
  /** The agent starts. */
  START("start"),
  /** The config file may have changed. */
  CONFIG("config"),
  /** The rules may have changed. */
  RULES("drift"),
  /** The resync interval has passed. */
  RESYNC("resync"),
  /** The last pass failed. */
  RETRY("retry"),
  /** The agent is to stop. */
  STOP("stop");

  private final String word;

  Trigger(String word) {
    this.word = word;
  }

  /** As logs and metrics name it. */
  @Override
  public String toString() {
    return word;
  }
}
