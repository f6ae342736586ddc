package ipmasq.hook.nftables;

import ipmasq.hook.Action;
import ipmasq.hook.ipset.ForeignIpsets;
import ipmasq.hook.ipset.MatchSet;
import ipmasq.net.Family;
import ipmasq.netlink.nftables.Xtables;
import java.util.ArrayList;
import java.util.List;

/** The match and the target of iptables for ipsets: both have the index of a set, not its name. */
final class XtSet {
  private static final int IPSET_INV_MATCH = 1;
  private static final int IPSET_RETURN_NOMATCH = 1 << 7;
  private static final int IPSET_FLAG_MAP_SKBMARK = 1 << 8;
  private static final int IPSET_INVALID_ID = 65535;

  private XtSet() {}

  static XtMatch match(XtInfo info, int revision, ForeignIpsets ipsets) {
    int flags = info.u8(3);
    List<String> directions = new ArrayList<>();
    for (int part = 1; part <= info.u8(2); part++) {
      directions.add((flags & 1 << part) != 0 ? "src" : "dst");
    }
    boolean plain = (flags & IPSET_RETURN_NOMATCH) == 0 && isPlain(info, revision);
    MatchSet match =
        new MatchSet(ipsets.name(info.u16(0)), directions, (flags & IPSET_INV_MATCH) != 0, plain);
    return new XtMatch(
        List.of(ipsets.meaning(match, info.family())), match.text() + (plain ? "" : " …"));
  }

  /** Neither compares the counters of an element nor has flags. */
  private static boolean isPlain(XtInfo info, int revision) {
    return switch (revision) {
      case 1, 2 -> true;
      case 3 -> info.u8(8) == 0 && info.u8(24) == 0 && info.u32(40) == 0;
      default -> info.u8(16) == 0 && info.u8(32) == 0 && info.u32(40) == 0;
    };
  }

  /** What a target does: the packet goes on, perhaps with a mark from a set. */
  static Action action(XtInfo info, int revision) {
    return switch (revision) {
      case 1, 2 -> new Action.NoAction();
      case 3 ->
          (info.u32(12) & IPSET_FLAG_MAP_SKBMARK) != 0
              ? Action.SetMark.UNKNOWN
              : new Action.NoAction();
      default -> new Action.UnknownAction("-j SET");
    };
  }

  /** Notes the sets that a target adds elements to or removes them from. */
  static void fill(Xtables target, ForeignIpsets ipsets) {
    if (!target.name().equals("SET") || target.revision() == 0 || target.info().length() < 8) {
      return;
    }
    XtInfo info = new XtInfo(target, Family.IPV4);
    for (int index : List.of(info.u16(0), info.u16(4))) {
      if (index != IPSET_INVALID_ID) {
        ipsets.fill(ipsets.name(index));
      }
    }
  }
}
