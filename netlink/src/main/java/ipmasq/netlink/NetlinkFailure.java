package ipmasq.netlink;

/** Why the kernel did not answer with what was asked for. */
public sealed interface NetlinkFailure {
  /**
   * The kernel said no.
   *
   * @param message index among the messages sent together, from 0
   * @param text what the kernel says beyond the number; mostly empty
   */
  record Refused(int message, Errno errno, String text) implements NetlinkFailure {
    static final int NLMSG_ERROR = 2;
    static final int NLMSG_DONE = 3;
    private static final int NLM_F_CAPPED = 0x100;
    private static final int NLM_F_ACK_TLVS = 0x200;
    private static final int NLMSGERR_ATTR_MSG = 1;

    /** A refusal of all that was sent together. */
    static Refused of(long result) {
      return new Refused(0, Errno.of(result), "");
    }

    /** What an error or the end of a list says; {@link Errno#NONE} for success. */
    static Refused read(Message answer, int message) throws MalformedMessage {
      int error = answer.payloadInt(0);
      if (error > 0) {
        throw new MalformedMessage("a positive error number: " + error);
      }
      String text =
          (answer.flags() & NLM_F_ACK_TLVS) != 0
              ? answer.attributes(textStart(answer)).string(NLMSGERR_ATTR_MSG, "")
              : "";
      return new Refused(message, Errno.of(error), text);
    }

    /**
     *
     *
     * <pre>
     *   error:  | number 4 | header of the refused message 16 | the rest of it, unless capped | attributes
     *   done:   | number 4 | attributes
     * </pre>
     */
    private static int textStart(Message answer) throws MalformedMessage {
      if (answer.type() == NLMSG_DONE) {
        return 4;
      }
      if ((answer.flags() & NLM_F_CAPPED) != 0) {
        return 4 + MessageWriter.NLMSG_HDRLEN;
      }
      int refused = answer.payloadInt(4);
      if (refused < MessageWriter.NLMSG_HDRLEN || refused > answer.payload()) {
        throw new MalformedMessage("an error about a message of " + refused + " bytes");
      }
      return 4 + (refused + 3 & ~3);
    }

    @Override
    public String toString() {
      return text.isEmpty() ? errno.toString() : errno + ": " + text;
    }
  }

  /** What was listed changed meanwhile, so the list may be incomplete: ask again. */
  record Interrupted() implements NetlinkFailure {
    @Override
    public String toString() {
      return "changed while it was listed";
    }
  }

  /** Answers were lost because they came faster than they were read. What they said is unknown. */
  record Overrun() implements NetlinkFailure {
    @Override
    public String toString() {
      return "answers were lost: " + Errno.ENOBUFS;
    }
  }

  /** No answer came in time. Whether the request was carried out is unknown. */
  record TimedOut() implements NetlinkFailure {
    @Override
    public String toString() {
      return "no answer from the kernel in time";
    }
  }

  /** An answer came that makes no sense. */
  record Malformed(String what) implements NetlinkFailure {
    Malformed(MalformedMessage why) {
      this(String.valueOf(why.getMessage()));
    }

    @Override
    public String toString() {
      return "an answer that makes no sense: " + what;
    }
  }

  /** Whether there is no such thing. */
  default boolean isAbsent() {
    return this instanceof Refused refused && refused.errno.is(Errno.ENOENT);
  }
}
