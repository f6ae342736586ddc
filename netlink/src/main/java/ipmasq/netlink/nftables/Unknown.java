package ipmasq.netlink.nftables;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * An expression that this package has no record for, kept as the kernel gave it.
 *
 * @param name the kernel's name for it
 * @param data its attributes
 */
public record Unknown(String name, Data data) implements Expression {
  private static final int NLA_HDRLEN = 4;
  private static final int NLA_TYPE_MASK = 0x3fff;

  /** Whether it has an attribute of this number. */
  public boolean has(int type) {
    ByteBuffer bytes = ByteBuffer.wrap(data.bytes()).order(ByteOrder.LITTLE_ENDIAN);
    int at = 0;
    while (at + NLA_HDRLEN <= bytes.limit()) {
      int length = bytes.getShort(at) & 0xffff;
      if ((bytes.getShort(at + 2) & NLA_TYPE_MASK) == type) {
        return true;
      }
      at += Math.max(NLA_HDRLEN, length + 3 & ~3);
    }
    return false;
  }

  @Override
  public String toString() {
    return "[" + name + "]";
  }
}
