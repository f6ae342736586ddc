package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;
import java.util.Set;

/**
 * Gives the packet another address, port, or both, from ranges in registers; register 0 leaves that
 * part to the kernel.
 *
 * @param family {@link TableFamily#IP} or {@link TableFamily#IP6}
 */
public record Nat(
    NatKind kind,
    TableFamily family,
    int firstAddress,
    int lastAddress,
    int firstPort,
    int lastPort,
    Set<NatFlag> flags)
    implements Expression {
  static final int HIGHEST = 7;
  private static final int NFTA_NAT_TYPE = 1;
  private static final int NFTA_NAT_FAMILY = 2;
  private static final int NFTA_NAT_REG_ADDR_MIN = 3;
  private static final int NFTA_NAT_REG_ADDR_MAX = 4;
  private static final int NFTA_NAT_REG_PROTO_MIN = 5;
  private static final int NFTA_NAT_REG_PROTO_MAX = 6;
  private static final int NFTA_NAT_FLAGS = 7;

  public Nat {
    flags = Set.copyOf(flags);
  }

  /** Which end of the flow gets another address: {@code NFT_NAT_*}. */
  public enum NatKind {
    SNAT,
    DNAT
  }

  void write(MessageWriter out) {
    out.u32(NFTA_NAT_TYPE, kind.ordinal()).u32(NFTA_NAT_FAMILY, family.number());
    register(out, NFTA_NAT_REG_ADDR_MIN, firstAddress);
    register(out, NFTA_NAT_REG_ADDR_MAX, lastAddress);
    register(out, NFTA_NAT_REG_PROTO_MIN, firstPort);
    register(out, NFTA_NAT_REG_PROTO_MAX, lastPort);
    int bits = NatFlag.bits(flags, firstPort != 0);
    if (bits != 0) {
      out.u32(NFTA_NAT_FLAGS, bits);
    }
  }

  private static void register(MessageWriter out, int type, int register) {
    if (register != 0) {
      out.u32(type, register);
    }
  }

  static Nat read(Attributes attributes) throws MalformedMessage {
    int address = attributes.u32(NFTA_NAT_REG_ADDR_MIN, 0);
    int port = attributes.u32(NFTA_NAT_REG_PROTO_MIN, 0);
    return new Nat(
        Expressions.numbered(NatKind.values(), attributes.u32(NFTA_NAT_TYPE)),
        TableFamily.of(attributes.u32(NFTA_NAT_FAMILY)),
        address,
        attributes.u32(NFTA_NAT_REG_ADDR_MAX, address),
        port,
        attributes.u32(NFTA_NAT_REG_PROTO_MAX, port),
        NatFlag.of(attributes.u32(NFTA_NAT_FLAGS, 0)));
  }

  void print(RuleText text) {
    StringBuilder line = new StringBuilder(kind == NatKind.SNAT ? "snat " : "dnat ");
    line.append(text.family(family)).append("to ");
    if (firstAddress != 0) {
      line.append(text.range(firstAddress, lastAddress, Format.ADDRESS));
    }
    if (firstPort != 0) {
      line.append(':').append(text.range(firstPort, lastPort, Format.NUMBER));
    }
    text.say(line + NatFlag.text(flags));
  }
}
