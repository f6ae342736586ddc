package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/** Loads what connection tracking knows of the packet's flow. */
public record Ct(int register, Key key) implements Expression {
  static final int HIGHEST = 4;
  private static final int DESTINATION = 1;
  private static final int KEY = 2;
  private static final int DIRECTION = 3;
  private static final int SOURCE = 4;

  /** What to load; in host order. */
  public enum Key {
    STATE,
    DIRECTION,
    STATUS,
    MARK
  }

  void write(MessageWriter out) {
    out.u32(KEY, key.ordinal()).u32(DESTINATION, register);
  }

  static Ct read(Attributes attributes) throws MalformedMessage {
    Expressions.refuse(attributes, DIRECTION, SOURCE);
    return new Ct(
        attributes.u32(DESTINATION), Expressions.numbered(Key.values(), attributes.u32(KEY)));
  }

  void print(RuleText text) {
    text.load(
        register,
        switch (key) {
          case STATE -> new Operand("ct state", Format.CT_STATE);
          case DIRECTION -> new Operand("ct direction", Format.CT_DIRECTION);
          case STATUS -> new Operand("ct status", Format.CT_STATUS);
          case MARK -> new Operand("ct mark", Format.MARK);
        });
  }
}
