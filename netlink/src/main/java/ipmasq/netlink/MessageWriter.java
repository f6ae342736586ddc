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
  static final int NLA_F_NESTED = 0x8000;
  private static final int MOST_IN_AN_ATTRIBUTE = 0xffff;

  private byte[] bytes = new byte[256];
  private int length;

  /** Nothing written yet. */
  public MessageWriter() {}

  /** Begins a message; the header's sequence and port are filled in when it is sent. */
  public MessageWriter begin(int type, int flags) {
    length = 0;
    room(NLMSG_HDRLEN);
    Arrays.fill(bytes, 0, NLMSG_HDRLEN, (byte) 0);
    putShort(4, type);
    putShort(6, flags);
    length = NLMSG_HDRLEN;
    return this;
  }

  /** The header that all netfilter subsystems share. */
  public MessageWriter netfilter(int family, int resource) {
    room(4);
    bytes[length] = (byte) family;
    bytes[length + 1] = 0; // version
    bytes[length + 2] = (byte) (resource >>> 8);
    bytes[length + 3] = (byte) resource;
    length += 4;
    return this;
  }

  public MessageWriter u8(int type, int value) {
    int at = attribute(type, 1);
    bytes[at] = (byte) value;
    return this;
  }

  public MessageWriter u16(int type, int value) {
    int at = attribute(type, 2);
    bytes[at] = (byte) (value >>> 8);
    bytes[at + 1] = (byte) value;
    return this;
  }

  public MessageWriter u32(int type, long value) {
    bigEndian(attribute(type, 4), 4, value);
    return this;
  }

  public MessageWriter u64(int type, long value) {
    bigEndian(attribute(type, 8), 8, value);
    return this;
  }

  /** A text and its terminating zero byte. */
  public MessageWriter string(int type, String text) {
    byte[] value = text.getBytes(StandardCharsets.UTF_8);
    int at = attribute(type, value.length + 1);
    System.arraycopy(value, 0, bytes, at, value.length);
    return this; // the padding is zero, and so is the byte after the text
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

  /** Attributes that are already encoded. */
  public MessageWriter attributes(byte[] attributes) {
    room(attributes.length);
    System.arraycopy(attributes, 0, bytes, length, attributes.length);
    length += attributes.length;
    return this;
  }

  /** Opens a nested attribute; pass the result to {@link #end}. */
  public int nest(int type) {
    int start = length;
    room(4);
    putShort(start + 2, type | NLA_F_NESTED);
    length += 4;
    return start;
  }

  public MessageWriter end(int nest) {
    if (length - nest > MOST_IN_AN_ATTRIBUTE) {
      throw new IllegalStateException("an attribute of " + (length - nest) + " bytes");
    }
    putShort(nest, length - nest);
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
    seal();
    return Arrays.copyOf(bytes, length);
  }

  /** A copy of what was written so far, for {@link #attributes}. */
  public byte[] written() {
    return Arrays.copyOf(bytes, length);
  }

  /** The message, in the shared buffer: it may be longer, and the next message overwrites it. */
  byte[] seal() {
    putShort(0, length);
    putShort(2, length >>> 16);
    return bytes;
  }

  /** Puts the sequence number into the header. */
  static void number(byte[] message, int sequence) {
    for (int i = 0; i < 4; i++) {
      message[8 + i] = (byte) (sequence >>> 8 * i);
    }
  }

  private int attribute(int type, int size) {
    int start = length;
    int padded = size + 3 & ~3;
    if (4 + size > MOST_IN_AN_ATTRIBUTE) {
      throw new IllegalArgumentException("an attribute of " + size + " bytes");
    }
    room(4 + padded);
    putShort(start, 4 + size);
    putShort(start + 2, type);
    Arrays.fill(bytes, start + 4, start + 4 + padded, (byte) 0);
    length += 4 + padded;
    return start + 4;
  }

  private void room(int more) {
    if (length + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, length + more));
    }
  }

  private void putShort(int at, int value) {
    bytes[at] = (byte) value;
    bytes[at + 1] = (byte) (value >>> 8);
  }

  private void bigEndian(int at, int size, long value) {
    for (int i = 0; i < size; i++) {
      bytes[at + i] = (byte) (value >>> 8 * (size - 1 - i));
    }
  }
}
