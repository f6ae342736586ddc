package ipmasq.hook.nftables;

import ipmasq.hook.Action;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.netlink.nftables.Xtables;
import java.util.Locale;
import java.util.Optional;

/**
 * A target of iptables, as {@code iptables-nft} leaves it in a rule.
 *
 * @param text as iptables prints it; an ellipsis stands for options that are not known
 */
record XtTarget(Action action, String text) {
  private static final int XT_CONNMARK_SET = 0;
  private static final int XT_CONNMARK_RESTORE = 2;
  private static final int XT_CT_NOTRACK = 1;
  private static final int XT_CT_NOTRACK_ALIAS = 2;
  private static final int LOG_DEFAULT_LEVEL = 4;

  static XtTarget of(Xtables target, Family family) {
    String name = "-j " + target.name();
    try {
      XtInfo info = new XtInfo(target, family);
      return switch (target.name()) {
        case "MASQUERADE", "NETMAP", "SNAT", "DNAT", "REDIRECT" ->
            nat(target.name(), NatRange.of(info, target.revision()));
        case "MARK" ->
            target.revision() == 2 ? setMark(info) : unknown(Action.SetMark.UNKNOWN, name);
        case "CONNMARK" -> connmark(info, target.revision());
        case "NOTRACK" -> new XtTarget(new Action.Untrack(), name);
        case "CT" -> track(info);
        case "LOG" -> new XtTarget(new Action.NoAction(), name + log(info));
        case "TRACE" -> new XtTarget(new Action.NoAction(), name);
        case "CLASSIFY" -> {
          String set =
              String.format(Locale.ROOT, " --set-class %04x:%04x", info.u16(2), info.u16(0));
          yield new XtTarget(new Action.NoAction(), name + set);
        }
        case "NFLOG" -> unknown(new Action.NoAction(), name);
        case "SET" -> unknown(XtSet.action(info, target.revision()), name);
        default -> unknown(new Action.UnknownAction(name), name);
      };
    } catch (IndexOutOfBoundsException | IllegalArgumentException odd) {
      return unknown(new Action.UnknownAction(name), name);
    }
  }

  /** One with options that are not known. */
  private static XtTarget unknown(Action action, String name) {
    return new XtTarget(action, name + " …");
  }

  /** The addresses and ports of a target of nat. */
  private record NatRange(int flags, Ip first, Ip last, int firstPort, int lastPort) {
    private static final int NF_NAT_RANGE_MAP_IPS = 1;
    private static final int NF_NAT_RANGE_PROTO_SPECIFIED = 1 << 1;
    private static final int NF_NAT_RANGE_PROTO_RANDOM = 1 << 2;
    private static final int NF_NAT_RANGE_PERSISTENT = 1 << 3;
    private static final int NF_NAT_RANGE_PROTO_RANDOM_FULLY = 1 << 4;
    private static final int NF_NAT_RANGE_PROTO_OFFSET = 1 << 5;

    /** Revision 0 of IPv4 is its own structure; later ones hold addresses of either family. */
    static NatRange of(XtInfo info, int revision) {
      boolean oldest = revision == 0 && info.family() == Family.IPV4;
      int flags = oldest ? 4 : 0;
      int last = oldest ? 12 : 20;
      int ports = oldest ? 16 : 36;
      return new NatRange(
          (int) info.u32(flags),
          info.address(flags + 4),
          info.address(last),
          info.port(ports),
          info.port(ports + 2));
    }

    boolean hasAddresses() {
      return (flags & NF_NAT_RANGE_MAP_IPS) != 0;
    }

    boolean hasPorts() {
      return (flags & NF_NAT_RANGE_PROTO_SPECIFIED) != 0;
    }

    Optional<IpRange> addresses() {
      return hasAddresses() ? Optional.of(new IpRange(first, last)) : Optional.empty();
    }

    private String ports() {
      return XtInfo.range(firstPort, lastPort, "-");
    }

    /** {@code 192.0.2.1-192.0.2.9:1024-2000}; IPv6 in brackets if ports follow. */
    String both() {
      String range = addresses().map(IpRange::toString).orElse("");
      boolean brackets = first.family() == Family.IPV6 && hasAddresses() && hasPorts();
      return (brackets ? "[" + range + "]" : range) + (hasPorts() ? ":" + ports() : "");
    }

    String toPorts() {
      return hasPorts() ? " --to-ports " + ports() : "";
    }

    String flagOptions() {
      return ((flags & NF_NAT_RANGE_PROTO_RANDOM) != 0 ? " --random" : "")
          + ((flags & NF_NAT_RANGE_PROTO_RANDOM_FULLY) != 0 ? " --random-fully" : "")
          + ((flags & NF_NAT_RANGE_PERSISTENT) != 0 ? " --persistent" : "")
          + ((flags & NF_NAT_RANGE_PROTO_OFFSET) != 0 ? " …" : "");
    }

    /** The prefix is where both ends agree. */
    String network() {
      byte[] mask = first.bytes();
      byte[] other = last.bytes();
      for (int i = 0; i < mask.length; i++) {
        mask[i] = (byte) ~(mask[i] ^ other[i]);
      }
      return first + IptablesText.mask(Ip.ofBytes(mask), true);
    }
  }

  private static XtTarget nat(String name, NatRange to) {
    return switch (name) {
      case "MASQUERADE" ->
          new XtTarget(new Action.Translate(name), "-j " + name + to.toPorts() + to.flagOptions());
      case "NETMAP" ->
          new XtTarget(new Action.UnknownAction("-j NETMAP"), "-j NETMAP --to " + to.network());
      case "SNAT" ->
          new XtTarget(
              to.hasAddresses()
                  ? new Action.Translate("SNAT", to.addresses())
                  : new Action.Keep(), // it gets another port at most
              "-j SNAT --to-source " + to.both() + to.flagOptions());
      case "DNAT" ->
          new XtTarget(
              new Action.ChangeDestination(name),
              "-j DNAT --to-destination " + to.both() + to.flagOptions());
      default ->
          new XtTarget(
              new Action.ChangeDestination(name), "-j " + name + to.toPorts() + to.flagOptions());
    };
  }

  /** Restoring changes only the bits of nfmask; the other modes change the connection's mark. */
  private static XtTarget connmark(XtInfo info, int revision) {
    if (revision != 1 && revision != 2) {
      return unknown(Action.SetMark.UNKNOWN, "-j CONNMARK");
    }
    int mode = revision == 1 ? info.u8(12) : info.u8(14); // after a shift
    String shift =
        revision == 1 || info.u8(13) == 0
            ? ""
            : (info.u8(12) == 0 ? " --left-shift-mark " : " --right-shift-mark ") + info.u8(13);
    String masks = " --nfmask " + info.hex(8) + " --ctmask " + info.hex(4);
    return switch (mode) {
      case XT_CONNMARK_RESTORE ->
          new XtTarget(
              Action.SetMark.unknown(info.u32(8)), "-j CONNMARK --restore-mark" + masks + shift);
      case XT_CONNMARK_SET ->
          new XtTarget(
              new Action.NoAction(),
              "-j CONNMARK --set-xmark " + info.hex(0) + "/" + info.hex(4) + shift);
      default -> new XtTarget(new Action.NoAction(), "-j CONNMARK --save-mark" + masks + shift);
    };
  }

  private static XtTarget setMark(XtInfo info) {
    return new XtTarget(
        new Action.SetMark(~info.u32(4) & 0xffff_ffffL, info.u32(0)),
        "-j MARK --set-xmark " + info.hex(0) + "/" + info.hex(4));
  }

  private static XtTarget track(XtInfo info) {
    int flags = info.u16(0);
    if ((flags & XT_CT_NOTRACK) == 0) {
      return unknown(new Action.NoAction(), "-j CT");
    }
    boolean alias = (flags & XT_CT_NOTRACK_ALIAS) != 0; // how it was written
    boolean more = info.u16(2) != 0 || (flags & ~(XT_CT_NOTRACK | XT_CT_NOTRACK_ALIAS)) != 0;
    return new XtTarget(
        new Action.Untrack(), (alias ? "-j NOTRACK" : "-j CT --notrack") + (more ? " …" : ""));
  }

  private static String log(XtInfo info) {
    String prefix = info.string(2, 30);
    StringBuilder text = new StringBuilder();
    text.append(prefix.isEmpty() ? "" : " --log-prefix " + XtInfo.quoted(prefix));
    text.append(info.u8(0) == LOG_DEFAULT_LEVEL ? "" : " --log-level " + info.u8(0));
    String[] flags = {
      " --log-tcp-sequence",
      " --log-tcp-options",
      " --log-ip-options",
      " --log-uid",
      "",
      " --log-macdecode"
    };
    for (int i = 0; i < flags.length; i++) {
      text.append((info.u8(1) >> i & 1) != 0 ? flags[i] : "");
    }
    return text.toString();
  }
}
