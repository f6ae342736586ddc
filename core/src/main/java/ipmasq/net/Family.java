package ipmasq.net;

/** IPv4 or IPv6: a parameter everywhere, never a second method. */
public enum Family {
  IPV4(32),
  IPV6(128);

  private final int bits;

  Family(int bits) {
    this.bits = bits;
  }

  public Family other() {
    return this == IPV4 ? IPV6 : IPV4;
  }

  /** The length of an address in bits. */
  public int bits() {
    return bits;
  }

  /** The length of an address in bytes. */
  public int bytes() {
    return bits / 8;
  }

  /** The range whose addresses are valid on one link only. */
  public Cidr linkLocal() {
    return switch (this) {
      case IPV4 -> Cidr.of("169.254.0.0/16");
      case IPV6 -> Cidr.of("fe80::/10");
    };
  }

  /** Every address. */
  public Cidr all() {
    return switch (this) {
      case IPV4 -> Cidr.of("0.0.0.0/0");
      case IPV6 -> Cidr.of("::/0");
    };
  }

  @Override
  public String toString() {
    return switch (this) {
      case IPV4 -> "IPv4";
      case IPV6 -> "IPv6";
    };
  }
}
