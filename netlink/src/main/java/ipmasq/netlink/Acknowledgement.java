package ipmasq.netlink;

/** Reads what the kernel says about a message: an error, an all-clear, or the end of a list. */
final class Acknowledgement {
  static final int ERROR = 2;
  static final int DONE = 3;

  private static final int CAPPED = 0x100;
  private static final int HAS_ATTRIBUTES = 0x200;
  private static final int TEXT = 1;
  private static final int OFFSET = 2;

  private Acknowledgement() {}

  /** The refusal, with {@link Errno#NONE} where it is an all-clear. */
  static Refusal of(MessageReader reader, int message) throws MalformedMessage {
    int error = reader.payloadInt(0);
    if (error > 0) {
      throw new MalformedMessage("a positive error number: " + error);
    }
    String text = "";
    int offset = 0;
    if ((reader.flags() & HAS_ATTRIBUTES) != 0) {
      AttributeReader attributes = reader.attributes(textStart(reader));
      while (attributes.next()) {
        switch (attributes.type()) {
          case TEXT -> text = attributes.string();
          case OFFSET -> offset = attributes.hostU32();
          default -> {}
        }
      }
    }
    return new Refusal(message, Errno.of(error), text, offset);
  }

  /**
   *
   *
   * <pre>
   *   error:  | number 4 | header of the refused message 16 | its rest, unless capped | attributes
   *   done:   | number 4 | attributes
   * </pre>
   */
  private static int textStart(MessageReader reader) throws MalformedMessage {
    if (reader.type() == DONE) {
      return 4;
    }
    if ((reader.flags() & CAPPED) != 0) {
      return 4 + MessageWriter.HEADER;
    }
    int refused = reader.payloadInt(4);
    if (refused < MessageWriter.HEADER || refused > reader.payload()) {
      throw new MalformedMessage("an error about a message of " + refused + " bytes");
    }
    return 4 + (refused + 3 & ~3);
  }
}
