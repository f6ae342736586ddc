package ipmasq.netlink.nftables;

import ipmasq.netlink.MessageWriter;

/** Changes a packet's metadata: usually its mark. */
public record SetMeta(int register, Meta.MetaKey key) implements Expression {
  void write(MessageWriter out) {
    out.u32(Meta.NFTA_META_KEY, key.number).u32(Meta.NFTA_META_SREG, register);
  }

  void print(RuleText text) {
    text.say(key.text + " set " + text.range(register, register, key.format));
  }
}
