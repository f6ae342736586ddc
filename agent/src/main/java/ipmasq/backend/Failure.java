package ipmasq.backend;

/**
 * Why something could not be done.
 *
 * @param message what failed, with the kernel's or the program's own words
 * @param advice what a person can do about it
 */
public record Failure(String message, String advice) {
  @Override
  public String toString() {
    return message + ": " + advice;
  }
}
