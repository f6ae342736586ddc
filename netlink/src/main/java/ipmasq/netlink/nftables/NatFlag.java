package ipmasq.netlink.nftables;

import ipmasq.netlink.MalformedMessage;
import java.util.EnumSet;
import java.util.Set;

/** How address and port are chosen. */
public enum NatFlag {
  /** The port by a hash with a secret. */
  RANDOM(0x4),
  /** The same address for all flows of a client. */
  PERSISTENT(0x8),
  /** The port at random. */
  FULLY_RANDOM(0x10);

  /** Follow from the registers that are used; the kernel and nft say them all the same. */
  private static final int ADDRESSES = 0x1;

  private static final int PORTS = 0x2;

  private final int bit;

  NatFlag(int bit) {
    this.bit = bit;
  }

  static int bits(Set<NatFlag> flags, boolean ports) {
    int bits = ports ? PORTS : 0;
    for (NatFlag flag : flags) {
      bits |= flag.bit;
    }
    return bits;
  }

  static Set<NatFlag> of(int bits) throws MalformedMessage {
    Set<NatFlag> flags = EnumSet.noneOf(NatFlag.class);
    int rest = bits & ~(ADDRESSES | PORTS);
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

  /** As nft writes them, with a space before; nothing where there are none. */
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
