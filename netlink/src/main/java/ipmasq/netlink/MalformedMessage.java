package ipmasq.netlink;

/** Bytes that are no message, or lack what a message of their kind must have. */
public final class MalformedMessage extends Exception {
  private static final long serialVersionUID = 1;

  public MalformedMessage(String what) {
    super(what, null, false, false); // says what is wrong with the bytes; the stack says nothing
  }
}
