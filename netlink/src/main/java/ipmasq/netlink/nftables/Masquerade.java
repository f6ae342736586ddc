package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;
import java.util.Set;

/**
 * Gives the packet the address of the interface it leaves by.
 *
 * @param firstPort the register with the lowest source port; 0: any port
 * @param lastPort the register with the highest; may be the same; 0: any port
 */
public record Masquerade(Set<NatFlag> flags, int firstPort, int lastPort) implements Expression {
  static final int HIGHEST = 3;
  private static final int NFTA_MASQ_FLAGS = 1;
  private static final int NFTA_MASQ_REG_PROTO_MIN = 2;
  private static final int NFTA_MASQ_REG_PROTO_MAX = 3;

  public Masquerade {
    flags = Set.copyOf(flags);
    if ((firstPort == 0) != (lastPort == 0)) {
      throw new IllegalArgumentException("one end of a port range");
    }
  }

  /** With any port. */
  public Masquerade(Set<NatFlag> flags) {
    this(flags, 0, 0);
  }

  void write(MessageWriter out) {
    int bits = NatFlag.bits(flags, firstPort != 0);
    if (bits != 0) {
      out.u32(NFTA_MASQ_FLAGS, bits);
    }
    if (firstPort != 0) {
      out.u32(NFTA_MASQ_REG_PROTO_MIN, firstPort).u32(NFTA_MASQ_REG_PROTO_MAX, lastPort);
    }
  }

  static Masquerade read(Attributes attributes) throws MalformedMessage {
    int first = attributes.u32(NFTA_MASQ_REG_PROTO_MIN, 0);
    int last = attributes.u32(NFTA_MASQ_REG_PROTO_MAX, first);
    if ((first == 0) != (last == 0)) {
      throw new MalformedMessage("one end of a port range");
    }
    return new Masquerade(NatFlag.of(attributes.u32(NFTA_MASQ_FLAGS, 0)), first, last);
  }

  void print(RuleText text) {
    String ports = firstPort == 0 ? "" : " to :" + text.range(firstPort, lastPort, Format.NUMBER);
    text.say("masquerade" + ports + NatFlag.text(flags));
  }
}
