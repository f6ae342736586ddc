package ipmasq.netlink.nftables;

import ipmasq.netlink.MessageWriter;

/**
 * Looks a register up in a map and continues with the value, if there is one.
 *
 * @param to the register for the value; 0: the value is a verdict
 */
public record MapLookup(int register, String map, int to) implements Expression {
  public boolean isVerdict() {
    return to == Verdict.NFT_REG_VERDICT;
  }

  void write(MessageWriter out) {
    out.u32(Lookup.NFTA_LOOKUP_SREG, register)
        .u32(Lookup.NFTA_LOOKUP_DREG, to)
        .string(Lookup.NFTA_LOOKUP_SET, map);
  }

  void print(RuleText text) {
    if (isVerdict()) {
      text.say(text.key(register) + " vmap @" + map);
    } else {
      text.load(to, new Operand(text.key(register) + " map @" + map, Format.HEX));
    }
  }
}
