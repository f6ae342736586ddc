package ipmasq.netlink.nftables;

import ipmasq.netlink.MessageWriter;

/**
 * Looks a register up in a map and goes on with what the map holds for it, where it holds anything.
 *
 * @param to the register for what was found; 0: it is a verdict
 */
public record MapLookup(int register, String map, int to) implements Expression {
  private static final int NFTA_LOOKUP_SET = 1;
  private static final int NFTA_LOOKUP_SREG = 2;
  private static final int NFTA_LOOKUP_DREG = 3;

  public boolean isVerdict() {
    return to == Verdict.REGISTER;
  }

  void write(MessageWriter out) {
    out.u32(NFTA_LOOKUP_SREG, register).u32(NFTA_LOOKUP_DREG, to).string(NFTA_LOOKUP_SET, map);
  }

  void print(RuleText text) {
    if (isVerdict()) {
      text.say(text.in(register) + " vmap @" + map);
    } else {
      text.load(to, new Operand(text.in(register) + " map @" + map, Format.HEX));
    }
  }
}
