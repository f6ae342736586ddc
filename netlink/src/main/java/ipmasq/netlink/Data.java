package ipmasq.netlink;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/** Bytes: an address, part of a packet, a register. Immutable. */
public final class Data {
  private static final int IFNAMSIZ = 16;

  private final byte[] bytes;

  private Data(byte[] bytes) {
    this.bytes = bytes;
  }

  public static Data of(byte... bytes) {
    return new Data(bytes.clone());
  }

  public static Data u8(int value) {
    return new Data(new byte[] {(byte) value});
  }

  /** In network order, like ports. */
  public static Data u16(int value) {
    return new Data(ByteBuffer.allocate(2).putShort((short) value).array());
  }

  /** In network order. */
  public static Data u32(int value) {
    return new Data(ByteBuffer.allocate(4).putInt(value).array());
  }

  /** In host order, like marks and all numbers that the kernel itself generates. */
  public static Data hostU32(int value) {
    return u32(Integer.reverseBytes(value));
  }

  /** The name of an interface as the kernel compares it: padded with zeros. */
  public static Data interfaceName(String name) {
    byte[] text = name.getBytes(StandardCharsets.UTF_8);
    if (text.length >= IFNAMSIZ) {
      throw new IllegalArgumentException("not the name of an interface: " + name);
    }
    return new Data(Arrays.copyOf(text, IFNAMSIZ));
  }

  /** A prefix of interface names: the rest of the name is not compared. */
  public static Data interfacePrefix(String prefix) {
    return new Data(prefix.getBytes(StandardCharsets.UTF_8));
  }

  public byte[] bytes() {
    return bytes.clone();
  }

  public int length() {
    return bytes.length;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Data data && Arrays.equals(bytes, data.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return "0x" + HexFormat.of().formatHex(bytes);
  }
}
