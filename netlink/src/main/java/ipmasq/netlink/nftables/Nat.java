package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;
import java.util.Set;

/**
 * Gives the packet another address, port, or both, out of ranges in registers; a register of 0
 * leaves that part to the kernel.
 *
 * @param family {@link TableFamily#IP} or {@link TableFamily#IP6}
 */
public record Nat(
    Kind kind,
    TableFamily family,
    int firstAddress,
    int lastAddress,
    int firstPort,
    int lastPort,
    Set<NatFlag> flags)
    implements Expression {
  static final int HIGHEST = 7;
  private static final int TYPE = 1;
  private static final int FAMILY = 2;
  private static final int ADDRESS_MIN = 3;
  private static final int ADDRESS_MAX = 4;
  private static final int PORT_MIN = 5;
  private static final int PORT_MAX = 6;
  private static final int FLAGS = 7;

  public Nat {
    flags = Set.copyOf(flags);
  }

  /** Which end of the flow gets another address. */
  public enum Kind {
    SNAT,
    DNAT
  }

  void write(MessageWriter out) {
    out.u32(TYPE, kind.ordinal()).u32(FAMILY, family.number());
    register(out, ADDRESS_MIN, firstAddress);
    register(out, ADDRESS_MAX, lastAddress);
    register(out, PORT_MIN, firstPort);
    register(out, PORT_MAX, lastPort);
    int bits = NatFlag.bits(flags, firstPort != 0);
    if (bits != 0) {
      out.u32(FLAGS, bits);
    }
  }

  private static void register(MessageWriter out, int type, int register) {
    if (register != 0) {
      out.u32(type, register);
    }
  }

  static Nat read(Attributes attributes) throws MalformedMessage {
    int address = attributes.u32(ADDRESS_MIN, 0);
    int port = attributes.u32(PORT_MIN, 0);
    return new Nat(
        Expressions.numbered(Kind.values(), attributes.u32(TYPE)),
        TableFamily.of(attributes.u32(FAMILY)),
        address,
        attributes.u32(ADDRESS_MAX, address),
        port,
        attributes.u32(PORT_MAX, port),
        NatFlag.of(attributes.u32(FLAGS, 0)));
  }

  void print(RuleText text) {
    StringBuilder line = new StringBuilder(kind == Kind.SNAT ? "snat " : "dnat ");
    line.append(family).append(" to ");
    if (firstAddress != 0) {
      line.append(text.range(firstAddress, lastAddress, Format.ADDRESS));
    }
    if (firstPort != 0) {
      line.append(':').append(text.range(firstPort, lastPort, Format.NUMBER));
    }
    text.say(line + NatFlag.text(flags));
  }
}
