package ipmasq.backend;

/**
 * Why something could not be done.
 *
 * @param message what failed, in the kernel's or the program's own words
 * @param advice what an operator can do about it
 * @param lasting whether it would fail the same way again, because the node lacks what it needs
 */
public record Failure(String message, String advice, boolean lasting) {
  /** A failure that may be temporary. */
  public Failure(String message, String advice) {
    this(message, advice, false);
  }

  @Override
  public String toString() {
    return message + ": " + advice;
  }
}
