package ipmasq.netlink;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes netlink messages one at a time, reusing the same buffer. Used by one thread.
 *
 * <pre>
 *   | length 4 | type 2 | flags 2 | sequence 4 | port 4 |     the header, in host order
 *   | family 1 | version 1 | resource 2 |                     nfnetlink's own, in network order
 *   | length 2 | type 2 | value | padding to 4 | ...          attributes, some nested
 * </pre>
 *
 * <p>Host order is little-endian on every architecture this module runs on.
 */
public final class MessageWriter {
  static final int NLMSG_HDRLEN = 16;
  private static final int NLA_F_NESTED = 0x8000;
  private static final int MOST_IN_AN_ATTRIBUTE = 0xffff;

  private byte[] bytes = new byte[256];
  private int length;

  /** Nothing written yet. */
  public MessageWriter() {}

  /** Begins a message; the header's sequence and port are filled in when it is sent. */
  public MessageWriter begin(int type, int flags) {
    length = 0;
    room(NLMSG_HDRLEN);
    little(4, 2, type);
    little(6, 2, flags);
    return this;
  }

  /** The header that all netfilter subsystems share. */
  public MessageWriter netfilter(int family, int resource) {
    int at = room(4);
    bytes[at] = (byte) family;
    big(at + 2, 2, resource);
    return this;
  }

  public MessageWriter u8(int type, int value) {
    return number(type, 1, value);
  }

  public MessageWriter u16(int type, int value) {
    return number(type, 2, value);
  }

  public MessageWriter u32(int type, long value) {
    return number(type, 4, value);
  }

  public MessageWriter u64(int type, long value) {
    return number(type, 8, value);
  }

  private MessageWriter number(int type, int size, long value) {
    big(attribute(type, size), size, value);
    return this;
  }

  /** A text and its terminating zero byte. */
  public MessageWriter string(int type, String text) {
    byte[] value = text.getBytes(StandardCharsets.UTF_8);
    return bytes(type, Arrays.copyOf(value, value.length + 1));
  }

  public MessageWriter bytes(int type, byte[] value) {
    int at = attribute(type, value.length); // first: it may replace the array
    System.arraycopy(value, 0, bytes, at, value.length);
    return this;
  }

  /** A nested attribute whose content is already encoded. */
  public MessageWriter nested(int type, byte[] attributes) {
    return bytes(type | NLA_F_NESTED, attributes);
  }

  /** Attributes, or a header, that are already encoded. */
  public MessageWriter attributes(byte[] attributes) {
    int at = room(attributes.length);
    System.arraycopy(attributes, 0, bytes, at, attributes.length);
    return this;
  }

  /** Opens a nested attribute; pass the result to {@link #end}. */
  public int nest(int type) {
    return attribute(type | NLA_F_NESTED, 0) - 4;
  }

  public MessageWriter end(int nest) {
    if (length - nest > MOST_IN_AN_ATTRIBUTE) {
      throw new IllegalStateException("an attribute of " + (length - nest) + " bytes");
    }
    little(nest, 2, length - nest);
    return this;
  }

  /** The bytes written so far. */
  public int length() {
    return length;
  }

  /** Sets flags besides those the message began with. */
  public MessageWriter flag(int flags) {
    bytes[6] |= (byte) flags;
    bytes[7] |= (byte) (flags >>> 8);
    return this;
  }

  /** A copy of the message. */
  public byte[] message() {
    little(0, 4, length);
    return written();
  }

  /** A copy of what was written so far, for {@link #attributes}. */
  public byte[] written() {
    return Arrays.copyOf(bytes, length);
  }

  private int attribute(int type, int size) {
    if (4 + size > MOST_IN_AN_ATTRIBUTE) {
      throw new IllegalArgumentException("an attribute of " + size + " bytes");
    }
    int start = room(4 + (size + 3 & ~3));
    little(start, 2, 4 + size);
    little(start + 2, 2, type);
    return start + 4;
  }

  /** Adds so many zero bytes and says where they begin. */
  private int room(int more) {
    int start = length;
    length += more;
    if (length > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, length));
    }
    Arrays.fill(bytes, start, length, (byte) 0);
    return start;
  }

  private void little(int at, int size, long value) {
    for (int i = 0; i < size; i++) {
      bytes[at + i] = (byte) (value >>> 8 * i);
    }
  }

  private void big(int at, int size, long value) {
    for (int i = 0; i < size; i++) {
      bytes[at + i] = (byte) (value >>> 8 * (size - 1 - i));
    }
  }
}
