package ipmasq.netlink;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The attributes of one message or of one attribute, by type. Immutable.
 *
 * <p>If a type repeats, the last one counts. Types above the highest that the caller knows are
 * ignored, because newer kernels send more.
 */
public final class Attributes {
  private final byte[] @Nullable [] values;

  private Attributes(int highest) {
    values = new byte[highest + 1][];
  }

  /** Those with types up to {@code highest}. */
  public static Attributes of(AttributeReader reader, int highest) throws MalformedMessage {
    Attributes attributes = new Attributes(highest);
    while (reader.next()) {
      if (reader.type() <= highest) {
        attributes.values[reader.type()] = reader.bytes();
      }
    }
    return attributes;
  }

  public boolean has(int type) {
    return values[type] != null;
  }

  public byte[] bytes(int type) throws MalformedMessage {
    byte[] value = values[type];
    if (value == null) {
      throw new MalformedMessage("attribute " + type + " is missing");
    }
    return value;
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

  public long u64(int type) throws MalformedMessage {
    return number(type, 8);
  }

  public long u64(int type, long otherwise) throws MalformedMessage {
    return has(type) ? u64(type) : otherwise;
  }

  /** The text up to its first zero byte. */
  public String string(int type) throws MalformedMessage {
    byte[] value = bytes(type);
    int end = 0;
    while (end < value.length && value[end] != 0) {
      end++;
    }
    return new String(value, 0, end, StandardCharsets.UTF_8);
  }

  public String string(int type, String otherwise) throws MalformedMessage {
    return has(type) ? string(type) : otherwise;
  }

  /** The attributes nested in an attribute; none if it is missing. */
  public Attributes nested(int type, int highest) throws MalformedMessage {
    return of(list(type), highest);
  }

  /** The same as a list, for attributes that repeat one type. */
  public AttributeReader list(int type) {
    byte[] value = values[type];
    return value == null
        ? new AttributeReader(new byte[0], 0, 0)
        : new AttributeReader(value, 0, value.length);
  }

  private long number(int type, int size) throws MalformedMessage {
    byte[] value = bytes(type);
    if (value.length != size) {
      throw new MalformedMessage(
          "attribute " + type + " of " + value.length + " bytes instead of " + size);
    }
    long number = 0;
    for (byte each : value) {
      number = number << 8 | each & 0xff;
    }
    return number;
  }
}
