package ipmasq.netlink;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The attributes of one message or of one attribute, by type; of a type that repeats, the first.
 * Whatever the bytes are, it never reads outside them: it throws {@link MalformedMessage} instead.
 *
 * <p>A view of a buffer that the next answer overwrites: what is to stay is copied.
 */
public final class Attributes {
  private static final int NLA_HDRLEN = 4;
  private static final int NLA_TYPE_MASK = 0x3fff; // without NLA_F_NESTED and NLA_F_NET_BYTEORDER

  private final byte[] bytes;
  private final int from;
  private final int to;

  /** Over the bytes from {@code from} up to but not including {@code to}. */
  public Attributes(byte[] bytes, int from, int to) throws MalformedMessage {
    this.bytes = bytes;
    this.from = from;
    this.to = to;
    for (int at = from; at < to; at = next(at)) {
      int left = to - at;
      if (left < NLA_HDRLEN) {
        throw new MalformedMessage(left + " bytes where an attribute should begin");
      }
      if (size(at) < NLA_HDRLEN || size(at) > left) {
        throw new MalformedMessage("an attribute of " + size(at) + " bytes in " + left);
      }
    }
  }

  public Attributes(byte[] bytes) throws MalformedMessage {
    this(bytes, 0, bytes.length);
  }

  private int size(int at) {
    return bytes[at] & 0xff | (bytes[at + 1] & 0xff) << 8;
  }

  private int type(int at) {
    return (bytes[at + 2] & 0xff | (bytes[at + 3] & 0xff) << 8) & NLA_TYPE_MASK;
  }

  private int next(int at) {
    return Math.min(at + (size(at) + 3 & ~3), to); // the last one may lack its padding
  }

  private int find(int type) {
    for (int at = from; at < to; at = next(at)) {
      if (type(at) == type) {
        return at;
      }
    }
    return -1;
  }

  private int require(int type) throws MalformedMessage {
    int at = find(type);
    if (at < 0) {
      throw new MalformedMessage("attribute " + type + " is missing");
    }
    return at;
  }

  public boolean has(int type) {
    return find(type) >= 0;
  }

  /** All types that occur. */
  public Set<Integer> types() {
    Set<Integer> types = new TreeSet<>();
    for (int at = from; at < to; at = next(at)) {
      types.add(type(at));
    }
    return types;
  }

  /** All of them, as they came. */
  public byte[] bytes() {
    return Arrays.copyOfRange(bytes, from, to);
  }

  public byte[] bytes(int type) throws MalformedMessage {
    int at = require(type);
    return Arrays.copyOfRange(bytes, at + NLA_HDRLEN, at + size(at));
  }

  /** The value; no bytes if it is missing. */
  public byte[] bytesOrNone(int type) throws MalformedMessage {
    return has(type) ? bytes(type) : new byte[0];
  }

  public int u8(int type) throws MalformedMessage {
    return (int) number(type, 1);
  }

  public int u16(int type) throws MalformedMessage {
    return (int) number(type, 2);
  }

  public int u32(int type) throws MalformedMessage {
    return (int) number(type, 4);
  }

  public int u32(int type, int otherwise) throws MalformedMessage {
    return has(type) ? u32(type) : otherwise;
  }

  /** A number in host order: outside netfilter, few attributes are in network order. */
  public int hostU32(int type) throws MalformedMessage {
    return Integer.reverseBytes(u32(type));
  }

  public long u64(int type) throws MalformedMessage {
    return number(type, 8);
  }

  public long u64(int type, long otherwise) throws MalformedMessage {
    return has(type) ? u64(type) : otherwise;
  }

  /** The text up to its first zero byte, or all of it if there is none. */
  public String string(int type) throws MalformedMessage {
    String text = new String(bytes(type), StandardCharsets.UTF_8);
    int end = text.indexOf('\0');
    return end < 0 ? text : text.substring(0, end);
  }

  public String string(int type, String otherwise) throws MalformedMessage {
    return has(type) ? string(type) : otherwise;
  }

  /** The attributes nested in an attribute; none if it is missing. */
  public Attributes nested(int type) throws MalformedMessage {
    int at = find(type);
    return at < 0
        ? new Attributes(bytes, from, from)
        : new Attributes(bytes, at + NLA_HDRLEN, at + size(at));
  }

  /** The entries of a list, which an attribute holds one after the other. */
  public List<Attributes> list(int type) throws MalformedMessage {
    Attributes list = nested(type);
    List<Attributes> entries = new ArrayList<>();
    for (int at = list.from; at < list.to; at = list.next(at)) {
      entries.add(new Attributes(bytes, at + NLA_HDRLEN, at + size(at)));
    }
    return entries;
  }

  private long number(int type, int size) throws MalformedMessage {
    int at = require(type);
    if (size(at) != NLA_HDRLEN + size) {
      throw new MalformedMessage(
          "attribute " + type + " of " + (size(at) - NLA_HDRLEN) + " bytes instead of " + size);
    }
    long number = 0;
    for (int i = 0; i < size; i++) {
      number = number << 8 | bytes[at + NLA_HDRLEN + i] & 0xff;
    }
    return number;
  }
}
