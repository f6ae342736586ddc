package ipmasq.netlink;

/** Reads what the kernel says about a message: an error, success, or the end of a list. */
final class Acknowledgement {
  static final int NLMSG_ERROR = 2;
  static final int NLMSG_DONE = 3;

  private static final int NLM_F_CAPPED = 0x100;
  private static final int NLM_F_ACK_TLVS = 0x200;
  private static final int NLMSGERR_ATTR_MSG = 1;
  private static final int NLMSGERR_ATTR_OFFS = 2;

  private Acknowledgement() {}

  /** The refusal, or one with {@link Errno#NONE} for success. */
  static Refusal of(MessageReader reader, int message) throws MalformedMessage {
    int error = reader.payloadInt(0);
    if (error > 0) {
      throw new MalformedMessage("a positive error number: " + error);
    }
    String text = "";
    int offset = 0;
    if ((reader.flags() & NLM_F_ACK_TLVS) != 0) {
      AttributeReader attributes = reader.attributes(textStart(reader));
      while (attributes.next()) {
        switch (attributes.type()) {
          case NLMSGERR_ATTR_MSG -> text = attributes.string();
          case NLMSGERR_ATTR_OFFS -> offset = attributes.hostU32();
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
   *   error:  | number 4 | header of the refused message 16 | the rest of it, unless capped | attributes
   *   done:   | number 4 | attributes
   * </pre>
   */
  private static int textStart(MessageReader reader) throws MalformedMessage {
    if (reader.type() == NLMSG_DONE) {
      return 4;
    }
    if ((reader.flags() & NLM_F_CAPPED) != 0) {
      return 4 + MessageWriter.NLMSG_HDRLEN;
    }
    int refused = reader.payloadInt(4);
    if (refused < MessageWriter.NLMSG_HDRLEN || refused > reader.payload()) {
      throw new MalformedMessage("an error about a message of " + refused + " bytes");
    }
    return 4 + (refused + 3 & ~3);
  }
}
