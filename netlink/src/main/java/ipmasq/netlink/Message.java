package ipmasq.netlink;

import static ipmasq.netlink.MessageWriter.NLMSG_HDRLEN;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** A message of a datagram, which the next one overwrites. Like its attributes, it only reads. */
public final class Message {
  private final ByteBuffer bytes;
  private final int start;
  private final int length;

  private Message(ByteBuffer bytes, int start, int length) {
    this.bytes = bytes;
    this.start = start;
    this.length = length;
  }

  /** The messages of a datagram: the first {@code length} bytes. */
  public static List<Message> in(byte[] datagram, int length) throws MalformedMessage {
    ByteBuffer bytes = ByteBuffer.wrap(datagram).order(ByteOrder.LITTLE_ENDIAN);
    List<Message> messages = new ArrayList<>();
    int at = 0;
    while (at < length) {
      int left = length - at;
      if (left < NLMSG_HDRLEN) {
        throw new MalformedMessage(left + " bytes where a message should begin");
      }
      int size = bytes.getInt(at);
      if (size < NLMSG_HDRLEN || size > left) {
        throw new MalformedMessage("a message of " + size + " bytes in " + left);
      }
      messages.add(new Message(bytes, at, size));
      at += size + 3 & ~3;
    }
    return messages;
  }

  public int type() {
    return Short.toUnsignedInt(bytes.getShort(start + 4));
  }

  public int flags() {
    return Short.toUnsignedInt(bytes.getShort(start + 6));
  }

  int sequence() {
    return bytes.getInt(start + 8);
  }

  /** The length of what follows the header. */
  int payload() {
    return length - NLMSG_HDRLEN;
  }

  /** The first byte of netfilter's own header. */
  public int family() throws MalformedMessage {
    return payloadByte(0);
  }

  /** The last two bytes of netfilter's own header, in network order. */
  public int resource() throws MalformedMessage {
    return payloadByte(2) << 8 | payloadByte(3);
  }

  /** The attributes after netfilter's own header. */
  public Attributes attributes() throws MalformedMessage {
    return attributes(4);
  }

  /** The attributes after a header of so many bytes. */
  public Attributes attributes(int skip) throws MalformedMessage {
    require(skip);
    return new Attributes(bytes.array(), start + NLMSG_HDRLEN + skip, start + length);
  }

  /** A number in host order, so many bytes after the header. */
  int payloadInt(int offset) throws MalformedMessage {
    require(offset + 4);
    return bytes.getInt(start + NLMSG_HDRLEN + offset);
  }

  /** The byte so many bytes after the header. */
  public int payloadByte(int offset) throws MalformedMessage {
    require(offset + 1);
    return bytes.get(start + NLMSG_HDRLEN + offset) & 0xff;
  }

  private void require(int size) throws MalformedMessage {
    if (payload() < size) {
      throw new MalformedMessage("a message with " + payload() + " bytes instead of " + size);
    }
  }
}
