package ipmasq.hook.nftables;

import ipmasq.hook.Condition;
import java.util.ArrayList;
import java.util.List;

/** The match {@code conntrack}, revisions 2 and 3, and {@code state}, which is part of it. */
final class XtConntrack {
  private static final int XT_CONNTRACK_STATE = 1;
  private static final int XT_CONNTRACK_PROTO = 1 << 1;
  private static final int XT_CONNTRACK_STATUS = 1 << 6;
  private static final int XT_CONNTRACK_EXPIRES = 1 << 7;
  private static final int XT_CONNTRACK_DIRECTION = 1 << 12;
  private static final int XT_CONNTRACK_STATE_ALIAS = 1 << 13;
  private static final int XT_CONNTRACK_STATE_BIT_NEW = 8; // XT_CONNTRACK_STATE_BIT(IP_CT_NEW)
  private static final int IPS_KNOWN = 0x3f; // IPS_EXPECTED to IPS_DST_NAT: none in a first packet

  /** From {@code XT_CONNTRACK_ORIGSRC} and {@code XT_CONNTRACK_ORIGSRC_PORT} on. */
  private static final List<String> ENDS =
      List.of("--ctorigsrc", "--ctorigdst", "--ctreplsrc", "--ctrepldst");

  private static final int[] STATE_BITS = {0, 3, 2, 1, 8, 6, 7};

  private XtConntrack() {}

  static XtMatch read(XtInfo info, int revision) {
    int flags = info.u16(146);
    int inverted = info.u16(148);
    List<Condition> all = new ArrayList<>();
    StringBuilder text = new StringBuilder();
    if ((flags & XT_CONNTRACK_STATE) != 0) {
      boolean not = (inverted & XT_CONNTRACK_STATE) != 0;
      boolean alias = (flags & XT_CONNTRACK_STATE_ALIAS) != 0; // how it was written
      text.append(alias ? "-m state" : "-m conntrack")
          .append(XtInfo.option(not, (alias ? "--state " : "--ctstate ") + states(info.u16(150))));
      all.add(state(info.u16(150), not));
    } else {
      text.append("-m conntrack");
    }
    String others = others(info, revision, flags, inverted);
    text.append(others);
    if (!others.isEmpty()) {
      all.add(new Condition.UnknownCondition("-m conntrack" + others));
    }
    if ((flags & XT_CONNTRACK_STATUS) != 0) {
      boolean not = (inverted & XT_CONNTRACK_STATUS) != 0;
      String option = XtInfo.option(not, "--ctstatus " + statuses(info.u16(152)));
      text.append(option);
      all.add(status(info.u16(152), not, "-m conntrack" + option));
    }
    String late = late(info, flags, inverted);
    text.append(late);
    if (!late.isEmpty()) {
      all.add(new Condition.UnknownCondition("-m conntrack" + late));
    }
    return new XtMatch(all, text.toString());
  }

  /** The match {@code state} of old versions of iptables. */
  static XtMatch readState(XtInfo info) {
    int mask = (int) info.u32(0);
    return new XtMatch(List.of(state(mask, false)), "-m state --state " + states(mask));
  }

  /** The first packet of a connection is NEW only, and not translated yet. */
  private static Condition state(int mask, boolean inverted) {
    return ((mask & XT_CONNTRACK_STATE_BIT_NEW) != 0) != inverted
        ? Condition.AnyOf.ALWAYS
        : Condition.AnyOf.NEVER;
  }

  private static Condition status(int wanted, boolean inverted, String text) {
    return (wanted & ~IPS_KNOWN) != 0
        ? new Condition.UnknownCondition(text)
        : inverted ? Condition.AnyOf.ALWAYS : Condition.AnyOf.NEVER;
  }

  /** In iptables' order, which is not that of the bits. */
  private static String states(int mask) {
    int ordered = 0;
    for (int i = 0; i < STATE_BITS.length; i++) {
      ordered |= (mask >> STATE_BITS[i] & 1) << i;
    }
    return XtInfo.names(
        ordered, "INVALID", "NEW", "RELATED", "ESTABLISHED", "UNTRACKED", "SNAT", "DNAT");
  }

  private static String statuses(int mask) {
    return XtInfo.names(mask, "EXPECTED", "SEEN_REPLY", "ASSURED", "CONFIRMED");
  }

  private static String others(XtInfo info, int revision, int flags, int inverted) {
    StringBuilder text = new StringBuilder();
    if ((flags & XT_CONNTRACK_PROTO) != 0) {
      boolean not = (inverted & XT_CONNTRACK_PROTO) != 0;
      text.append(XtInfo.option(not, "--ctproto " + info.u16(136)));
    }
    for (int i = 0; i < ENDS.size(); i++) {
      int address = 1 << 2 + i;
      if ((flags & address) != 0) {
        String block = info.address(32 * i) + IptablesText.mask(info.address(32 * i + 16), false);
        text.append(XtInfo.option((inverted & address) != 0, ENDS.get(i) + " " + block));
      }
    }
    for (int i = 0; i < ENDS.size(); i++) {
      int port = 1 << 8 + i;
      if ((flags & port) != 0) {
        String range =
            revision < 3
                ? "" + info.port(138 + 2 * i)
                : XtInfo.range(info.u16(138 + 2 * i), info.u16(154 + 2 * i), ":");
        text.append(XtInfo.option((inverted & port) != 0, ENDS.get(i) + "port " + range));
      }
    }
    return text.toString();
  }

  private static String late(XtInfo info, int flags, int inverted) {
    StringBuilder text = new StringBuilder();
    if ((flags & XT_CONNTRACK_EXPIRES) != 0) {
      boolean not = (inverted & XT_CONNTRACK_EXPIRES) != 0;
      String range = XtInfo.range(info.u32(128), info.u32(132), ":");
      text.append(XtInfo.option(not, "--ctexpire " + range));
    }
    if ((flags & XT_CONNTRACK_DIRECTION) != 0) {
      boolean reply = (inverted & XT_CONNTRACK_DIRECTION) != 0;
      text.append(" --ctdir ").append(reply ? "REPLY" : "ORIGINAL");
    }
    return text.toString();
  }
}
