package ipmasq.netlink.conntrack;

import ipmasq.netlink.AddressText;
import ipmasq.netlink.MalformedMessage;
import java.util.Arrays;

/** An address in network order. Immutable. */
public final class Address {
  private final byte[] bytes;

  private Address(byte[] bytes) {
    this.bytes = bytes;
  }

  static Address read(byte[] bytes) throws MalformedMessage {
    if (bytes.length != 4 && bytes.length != 16) {
      throw new MalformedMessage("an address of " + bytes.length + " bytes");
    }
    return new Address(bytes);
  }

  /** Of 4 bytes or 16. */
  public static Address of(byte... bytes) {
    if (bytes.length != 4 && bytes.length != 16) {
      throw new IllegalArgumentException("an address of " + bytes.length + " bytes");
    }
    return new Address(bytes.clone());
  }

  /** 4 bytes or 16. */
  public byte[] bytes() {
    return bytes.clone();
  }

  boolean isV6() {
    return bytes.length == 16;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Address address && Arrays.equals(bytes, address.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return AddressText.of(bytes);
  }
}
