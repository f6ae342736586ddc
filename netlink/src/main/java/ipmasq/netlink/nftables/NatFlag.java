package ipmasq.netlink.nftables;

import ipmasq.netlink.MalformedMessage;
import java.util.EnumSet;
import java.util.Set;

/** How address and port are chosen: {@code NF_NAT_RANGE_*}. */
public enum NatFlag {
  /** The port by a hash with a secret: {@code NF_NAT_RANGE_PROTO_RANDOM}. */
  RANDOM(0x4),
  /** The port at random: {@code NF_NAT_RANGE_PROTO_RANDOM_FULLY}. */
  FULLY_RANDOM(0x10),
  /** The same address for all flows of a client. */
  PERSISTENT(0x8);

  /** Implied by the registers in use, yet the kernel and nft set them. */
  private static final int NF_NAT_RANGE_MAP_IPS = 0x1;

  private static final int NF_NAT_RANGE_PROTO_SPECIFIED = 0x2;

  private final int bit;

  NatFlag(int bit) {
    this.bit = bit;
  }

  static int bits(Set<NatFlag> flags, boolean ports) {
    int bits = ports ? NF_NAT_RANGE_PROTO_SPECIFIED : 0;
    for (NatFlag flag : flags) {
      bits |= flag.bit;
    }
    return bits;
  }

  static Set<NatFlag> of(int bits) throws MalformedMessage {
    Set<NatFlag> flags = EnumSet.noneOf(NatFlag.class);
    int rest = bits & ~(NF_NAT_RANGE_MAP_IPS | NF_NAT_RANGE_PROTO_SPECIFIED);
    for (NatFlag flag : values()) {
      if ((rest & flag.bit) != 0) {
        flags.add(flag);
        rest &= ~flag.bit;
      }
    }
    if (rest != 0) {
      throw new MalformedMessage("nat flags " + bits);
    }
    return flags;
  }

  /** As nft writes them, with a leading space; empty if there are none. */
  static String text(Set<NatFlag> flags) {
    StringBuilder text = new StringBuilder();
    for (NatFlag flag : values()) {
      if (flags.contains(flag)) {
        text.append(text.isEmpty() ? ' ' : ',').append(flag);
      }
    }
    return text.toString();
  }

  @Override
  public String toString() {
    return switch (this) {
      case RANDOM -> "random";
      case PERSISTENT -> "persistent";
      case FULLY_RANDOM -> "fully-random";
    };
  }
}
