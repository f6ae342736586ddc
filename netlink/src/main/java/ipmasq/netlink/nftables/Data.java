package ipmasq.netlink.nftables;

import ipmasq.netlink.AddressText;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/** Bytes of a packet or a register. Immutable. */
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
    return new Data(new byte[] {(byte) (value >>> 8), (byte) value});
  }

  /** In network order. */
  public static Data u32(int value) {
    return new Data(
        new byte[] {
          (byte) (value >>> 24), (byte) (value >>> 16), (byte) (value >>> 8), (byte) value
        });
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

  /** Up to eight bytes as a number in network order. */
  long number() {
    long value = 0;
    for (byte each : bytes) {
      value = value << 8 | each & 0xff;
    }
    return value;
  }

  /** The bytes in the other order. */
  Data reversed() {
    byte[] other = new byte[bytes.length];
    for (int i = 0; i < other.length; i++) {
      other[i] = bytes[bytes.length - 1 - i];
    }
    return new Data(other);
  }

  /** As an address, if it has the length of one. */
  String address() {
    return bytes.length == 4 || bytes.length == 16 ? AddressText.of(bytes) : toString();
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
