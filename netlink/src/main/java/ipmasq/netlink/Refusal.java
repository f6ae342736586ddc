package ipmasq.netlink;

/**
 * The kernel's refusal of one message.
 *
 * @param message index among the messages sent together, from 0
 * @param errno why
 * @param text what the kernel says beyond the number; mostly empty
 * @param offset offset of the offending attribute in the message; 0: the kernel did not say
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
