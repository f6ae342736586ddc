package ipmasq.hook.nftables;

import ipmasq.net.Family;
import ipmasq.netlink.nftables.Xtables;
import java.util.List;
import java.util.Locale;

/** Matches that cannot be judged from here: their options, as iptables prints them. */
final class XtUnjudged {
  private static final int XT_STATISTIC_MODE_RANDOM = 0;
  private static final int XT_STATISTIC_INVERT = 1;
  private static final int XT_OWNER_UID = 1;
  private static final int XT_OWNER_GID = 2;
  private static final int XT_OWNER_SOCKET = 4;
  private static final int XT_OWNER_SUPPL_GROUPS = 8;
  private static final int XT_POLICY_MATCH_IN = 1;
  private static final int XT_POLICY_MATCH_NONE = 4;
  private static final int XT_POLICY_MATCH_STRICT = 8;
  private static final int IPT_TTL_NE = 1;
  private static final int ANY_ICMP_TYPE = 255;
  private static final int IFNAMSIZ = 16;
  private static final List<String> PACKET_TYPES = List.of("unicast", "broadcast", "multicast");
  private static final List<String> TTL =
      List.of("--ttl-eq ", "--ttl-eq ", "--ttl-lt ", "--ttl-gt ");

  private XtUnjudged() {}

  /** With a leading space; an ellipsis for those that are not known. */
  static String options(Xtables match, XtInfo info) {
    return switch (match.name() + " " + match.revision()) {
      case "connmark 1" ->
          XtInfo.option(info.u8(8) != 0, "--mark " + IptablesText.mark(info.u32(0), info.u32(4)));
      case "statistic 0" -> statistic(info);
      case "length 0" ->
          XtInfo.option(info.u8(4) != 0, "--length " + XtInfo.range(info.u16(0), info.u16(2), ":"));
      case "owner 1" -> owner(info);
      case "policy 0" -> policy(info);
      case "physdev 0" -> physdev(info);
      case "pkttype 0" ->
          XtInfo.option(info.u32(4) != 0, "--pkt-type " + PACKET_TYPES.get((int) info.u32(0)));
      case "icmp 0" -> icmp(info, "--icmp-type ");
      case "icmp6 0" -> icmp(info, "--icmpv6-type ");
      case "dscp 0" ->
          XtInfo.option(info.u8(1) != 0, String.format(Locale.ROOT, "--dscp 0x%02x", info.u8(0)));
      case "tos 1" ->
          XtInfo.option(
              info.u8(2) != 0,
              String.format(Locale.ROOT, "--tos 0x%02x/0x%02x", info.u8(1), info.u8(0)));
      case "ttl 0" -> XtInfo.option(info.u8(0) == IPT_TTL_NE, TTL.get(info.u8(0)) + info.u8(1));
      case "cpu 0" -> XtInfo.option(info.u32(4) != 0, "--cpu " + info.u32(0));
      default -> " …";
    };
  }

  private static String statistic(XtInfo info) {
    boolean inverted = (info.u16(2) & XT_STATISTIC_INVERT) != 0;
    if (info.u16(0) == XT_STATISTIC_MODE_RANDOM) {
      String share = String.format(Locale.ROOT, "%.11f", info.u32(4) / (double) (1L << 31));
      return " --mode random" + XtInfo.option(inverted, "--probability " + share);
    }
    return " --mode nth"
        + XtInfo.option(inverted, "--every " + (info.u32(4) + 1) + " --packet " + info.u32(8));
  }

  private static String owner(XtInfo info) {
    int flags = info.u8(16);
    int inverted = info.u8(17);
    StringBuilder text = new StringBuilder();
    if ((flags & XT_OWNER_SOCKET) != 0) {
      text.append(XtInfo.option((inverted & XT_OWNER_SOCKET) != 0, "--socket-exists"));
    }
    if ((flags & XT_OWNER_UID) != 0) {
      String range = XtInfo.range(info.u32(0), info.u32(4), "-");
      text.append(XtInfo.option((inverted & XT_OWNER_UID) != 0, "--uid-owner " + range));
    }
    if ((flags & XT_OWNER_GID) != 0) {
      String range = XtInfo.range(info.u32(8), info.u32(12), "-");
      text.append(XtInfo.option((inverted & XT_OWNER_GID) != 0, "--gid-owner " + range));
    }
    return text + ((flags & XT_OWNER_SUPPL_GROUPS) != 0 ? " --suppl-groups" : "");
  }

  /** Whether IPsec applies; of which kind is left out. */
  private static String policy(XtInfo info) {
    int elements = 4;
    int size = 76; // of struct xt_policy_elem
    int flags = info.u16(elements * size);
    boolean more = false;
    for (int i = 0; i < elements; i++) {
      more |= info.u8(i * size + 74) != 0; // which of its fields to compare
    }
    return " --dir "
        + ((flags & XT_POLICY_MATCH_IN) != 0 ? "in" : "out")
        + " --pol "
        + ((flags & XT_POLICY_MATCH_NONE) != 0 ? "none" : "ipsec")
        + ((flags & XT_POLICY_MATCH_STRICT) != 0 ? " --strict" : "")
        + (more ? " …" : "");
  }

  private static String physdev(XtInfo info) {
    String[] options = {
      "--physdev-is-in",
      "--physdev-in " + info.string(0, IFNAMSIZ),
      "--physdev-is-out",
      "--physdev-out " + info.string(2 * IFNAMSIZ, IFNAMSIZ),
      "--physdev-is-bridged"
    };
    int[] bits = {8, 1, 16, 2, 4}; // XT_PHYSDEV_OP_ISIN, _IN, _ISOUT, _OUT, _BRIDGED
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < options.length; i++) {
      if ((info.u8(4 * IFNAMSIZ + 1) & bits[i]) != 0) {
        text.append(XtInfo.option((info.u8(4 * IFNAMSIZ) & bits[i]) != 0, options[i]));
      }
    }
    return text.toString();
  }

  private static String icmp(XtInfo info, String option) {
    String codes =
        info.u8(1) == 0 && info.u8(2) == 255 ? "" : "/" + XtInfo.range(info.u8(1), info.u8(2), "-");
    boolean any = info.u8(0) == ANY_ICMP_TYPE && info.family() == Family.IPV4;
    return XtInfo.option(info.u8(3) != 0, option + (any ? "any" : info.u8(0) + codes));
  }
}
