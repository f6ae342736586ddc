package ipmasq.netlink;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Walks attributes. Whatever the bytes are, it never reads outside its range: it throws {@link
 * MalformedMessage} instead. Used by one thread.
 *
 * <pre>{@code
 * while (attributes.next()) {
 *   switch (attributes.type()) {
 *     case NFTA_CHAIN_NAME -> name = attributes.string();
 *     case NFTA_CHAIN_HOOK -> hook = hook(attributes.nested());
 *     default -> {} // newer kernels send more
 *   }
 * }
 * }</pre>
 */
public final class AttributeReader {
  private static final int NLA_TYPE_MASK = 0x3fff; // without NLA_F_NESTED and NLA_F_NET_BYTEORDER

  private final byte[] bytes;
  private final int to;
  private int next;
  private int type = -1;
  private int start;
  private int length;

  /** Over the bytes from {@code from} up to but not including {@code to}. */
  public AttributeReader(byte[] bytes, int from, int to) {
    if (from < 0 || from > to || to > bytes.length) {
      throw new IllegalArgumentException("from " + from + " to " + to + " of " + bytes.length);
    }
    this.bytes = bytes;
    this.next = from;
    this.to = to;
  }

  /** Moves to the next attribute, if there is one. */
  public boolean next() throws MalformedMessage {
    int left = to - next;
    if (left == 0) {
      return false;
    }
    if (left < 4) {
      throw new MalformedMessage(left + " bytes where an attribute should begin");
    }
    int size = littleEndian(next);
    if (size < 4 || size > left) {
      throw new MalformedMessage("an attribute of " + size + " bytes in " + left);
    }
    type = littleEndian(next + 2) & NLA_TYPE_MASK;
    start = next + 4;
    length = size - 4;
    next = Math.min(next + (size + 3 & ~3), to); // the last one may lack its padding
    return true;
  }

  public int type() {
    return type;
  }

  /** The length of the value. */
  public int length() {
    return length;
  }

  public int u8() throws MalformedMessage {
    return (int) number(1);
  }

  public int u16() throws MalformedMessage {
    return (int) number(2);
  }

  public int u32() throws MalformedMessage {
    return (int) number(4);
  }

  public long u64() throws MalformedMessage {
    return number(8);
  }

  /** A number in host order: outside netfilter, few attributes are in network order. */
  public int hostU32() throws MalformedMessage {
    return Integer.reverseBytes(u32());
  }

  /** The text up to its first zero byte, or all of it if there is none. */
  public String string() {
    int end = start;
    while (end < start + length && bytes[end] != 0) {
      end++;
    }
    return new String(bytes, start, end - start, StandardCharsets.UTF_8);
  }

  public byte[] bytes() {
    return Arrays.copyOfRange(bytes, start, start + length);
  }

  /** Copies the value into an array of exactly its length. */
  public void copyTo(byte[] target) throws MalformedMessage {
    require(target.length);
    System.arraycopy(bytes, start, target, 0, length);
  }

  /** The attributes that this one holds. */
  public AttributeReader nested() {
    return new AttributeReader(bytes, start, start + length);
  }

  private long number(int size) throws MalformedMessage {
    require(size);
    long value = 0;
    for (int i = 0; i < size; i++) {
      value = value << 8 | bytes[start + i] & 0xff;
    }
    return value;
  }

  private void require(int size) throws MalformedMessage {
    if (length != size) {
      throw new MalformedMessage(
          "attribute " + type + " of " + length + " bytes instead of " + size);
    }
  }

  private int littleEndian(int at) {
    return bytes[at] & 0xff | (bytes[at + 1] & 0xff) << 8;
  }
}
