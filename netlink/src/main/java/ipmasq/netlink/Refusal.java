package ipmasq.netlink;

/**
 * The kernel's no to one message.
 *
 * @param message which message of those sent together, from 0
 * @param errno why
 * @param text what the kernel says beyond the number; mostly empty
 * @param offset where in the message the attribute stands that it dislikes; 0: it does not say
 */
public record Refusal(int message, Errno errno, String text, int offset) {
  /** The refusal of a message sent alone, or of all that were sent together. */
  static Refusal of(Errno errno) {
    return new Refusal(0, errno, "", 0);
  }

  @Override
  public String toString() {
    return text.isEmpty() ? errno.toString() : errno + ": " + text;
  }
}
