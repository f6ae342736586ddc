package ipmasq.netlink.nftables;

import ipmasq.netlink.MessageWriter;

/** Changes what the kernel knows of a packet besides its bytes: its mark, most of the time. */
public record SetMeta(int register, Meta.Key key) implements Expression {
  private static final int NFTA_META_KEY = 2;
  private static final int NFTA_META_SREG = 3;

  void write(MessageWriter out) {
    out.u32(NFTA_META_KEY, key.number).u32(NFTA_META_SREG, register);
  }

  void print(RuleText text) {
    text.say(key.text + " set " + text.range(register, register, key.format));
  }
}
