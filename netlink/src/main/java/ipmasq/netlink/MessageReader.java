package ipmasq.netlink;

/**
 * Walks the messages of one datagram and, like {@link AttributeReader}, never reads outside it.
 * Used by one thread.
 */
public final class MessageReader {
  private static final int NLMSG_HDRLEN = MessageWriter.NLMSG_HDRLEN;

  private byte[] bytes = {};
  private int to;
  private int next;
  private int start;
  private int length;

  MessageReader() {}

  /** Over a datagram: the first {@code length} bytes. */
  public MessageReader(byte[] datagram, int length) {
    of(datagram, length);
  }

  /** Starts over with another datagram. */
  final void of(byte[] datagram, int length) {
    if (length > datagram.length) {
      throw new IllegalArgumentException(length + " bytes of " + datagram.length);
    }
    this.bytes = datagram;
    this.to = length;
    this.next = 0;
  }

  /** Moves to the next message, if there is one. */
  public boolean next() throws MalformedMessage {
    int left = to - next;
    if (left == 0) {
      return false;
    }
    if (left < NLMSG_HDRLEN) {
      next = to;
      throw new MalformedMessage(left + " bytes where a message should begin");
    }
    int size = int32(next);
    if (size < NLMSG_HDRLEN || size > left) {
      next = to;
      throw new MalformedMessage("a message of " + size + " bytes in " + left);
    }
    start = next;
    length = size;
    next = size + 3 > left ? to : start + (size + 3 & ~3);
    return true;
  }

  public int type() {
    return int16(start + 4);
  }

  public int flags() {
    return int16(start + 6);
  }

  int sequence() {
    return int32(start + 8);
  }

  /** The length of what follows the header. */
  public int payload() {
    return length - NLMSG_HDRLEN;
  }

  /** The first byte of netfilter's own header. */
  public int family() throws MalformedMessage {
    require(4);
    return bytes[start + NLMSG_HDRLEN] & 0xff;
  }

  /** The last two bytes of netfilter's own header, in network order. */
  public int resource() throws MalformedMessage {
    require(4);
    return (bytes[start + NLMSG_HDRLEN + 2] & 0xff) << 8 | bytes[start + NLMSG_HDRLEN + 3] & 0xff;
  }

  /** The attributes after netfilter's own header. */
  public AttributeReader attributes() throws MalformedMessage {
    return attributes(4);
  }

  /** The attributes after a header of so many bytes. */
  public AttributeReader attributes(int skip) throws MalformedMessage {
    require(skip);
    return new AttributeReader(bytes, start + NLMSG_HDRLEN + skip, start + length);
  }

  /** A number in host order, so many bytes after the header. */
  int payloadInt(int offset) throws MalformedMessage {
    require(offset + 4);
    return int32(start + NLMSG_HDRLEN + offset);
  }

  /** The byte so many bytes after the header. */
  public int payloadByte(int offset) throws MalformedMessage {
    require(offset + 1);
    return bytes[start + NLMSG_HDRLEN + offset] & 0xff;
  }

  private void require(int size) throws MalformedMessage {
    if (payload() < size) {
      throw new MalformedMessage("a message with " + payload() + " bytes instead of " + size);
    }
  }

  private int int16(int at) {
    return bytes[at] & 0xff | (bytes[at + 1] & 0xff) << 8;
  }

  private int int32(int at) {
    return int16(at) | int16(at + 2) << 16;
  }
}
