package ipmasq.hook.nftables;

import ipmasq.hook.AddressRanges;
import ipmasq.hook.Condition;
import ipmasq.hook.ipset.ForeignIpsets;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import ipmasq.netlink.nftables.Xtables;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the structures of iptables' matches, as {@code iptables-nft} leaves them in a rule. They
 * are the kernel's interface to iptables and never change; a new one has a new revision. An unknown
 * one is named, and may match.
 */
final class XtDecoder {
  private static final int XT_ADDRTYPE_UNICAST = 1 << 1;
  private static final int XT_ADDRTYPE_LOCAL = 1 << 2;
  private static final int XT_ADDRTYPE_INVERT_SOURCE = 1;
  private static final int XT_ADDRTYPE_INVERT_DEST = 2;
  private static final int XT_ADDRTYPE_LIMIT_IFACE_IN = 4;
  private static final int XT_ADDRTYPE_LIMIT_IFACE_OUT = 8;
  private static final int XT_TCP_INV_SRCPT = 1; // XT_UDP_* has the same numbers
  private static final int XT_TCP_INV_DSTPT = 2;
  private static final int XT_TCP_INV_FLAGS = 4;
  private static final int XT_TCP_INV_OPTION = 8;
  private static final int XT_MULTIPORT_DESTINATION = 1;
  private static final List<String> MULTIPORT = List.of("--sports ", "--dports ", "--ports ");
  private static final int IPRANGE_SRC = 1;
  private static final int IPRANGE_DST = 2;
  private static final int IPRANGE_SRC_INV = 16;
  private static final int IPRANGE_DST_INV = 32;

  private static final String[] ADDRESS_TYPES = {
    "UNSPEC",
    "UNICAST",
    "LOCAL",
    "BROADCAST",
    "ANYCAST",
    "MULTICAST",
    "BLACKHOLE",
    "UNREACHABLE",
    "PROHIBIT",
    "THROW",
    "NAT",
    "XRESOLVE"
  };

  private static final AddressRanges NOT_UNICAST =
      AddressRanges.ofBlocks(
          List.of(Cidr.of("0.0.0.0/8"), Cidr.of("224.0.0.0/4"), Cidr.of("255.255.255.255/32")));

  private XtDecoder() {}

  static String comment(Xtables match) {
    return new XtInfo(match, Family.IPV4).string(0, match.info().length());
  }

  static XtMatch match(Xtables match, Family family, ForeignIpsets ipsets) {
    try {
      XtInfo info = new XtInfo(match, family);
      return switch (match.name() + " " + match.revision()) {
        case "addrtype 1" -> addressType(info);
        case "mark 1" -> mark(info);
        case "tcp 0" -> tcp(info);
        case "udp 0" -> udp(info);
        case "multiport 1" -> multiport(info);
        case "conntrack 2", "conntrack 3" -> XtConntrack.read(info, match.revision());
        case "state 0" -> XtConntrack.readState(info);
        case "iprange 1" -> range(info);
        case "set 1", "set 2", "set 3", "set 4" -> XtSet.match(info, match.revision(), ipsets);
        default -> XtMatch.unknown("-m " + match.name() + XtUnjudged.options(match, info));
      };
    } catch (IndexOutOfBoundsException | IllegalArgumentException odd) {
      return XtMatch.unknown("-m " + match.name() + " …");
    }
  }

  private static XtMatch addressType(XtInfo info) {
    int flags = (int) info.u32(4);
    boolean notFrom = (flags & XT_ADDRTYPE_INVERT_SOURCE) != 0;
    boolean notTo = (flags & XT_ADDRTYPE_INVERT_DEST) != 0;
    boolean in = (flags & XT_ADDRTYPE_LIMIT_IFACE_IN) != 0;
    boolean out = (flags & XT_ADDRTYPE_LIMIT_IFACE_OUT) != 0;
    String source = addressTypes(notFrom, "--src-type ", info.u16(0));
    String destination = addressTypes(notTo, "--dst-type ", info.u16(2));
    String text =
        "-m addrtype"
            + source
            + destination
            + (in ? " --limit-iface-in" : "")
            + (out ? " --limit-iface-out" : "");
    if (in || out) {
      return XtMatch.unknown(text); // an address of the interface alone is less than the node's
    }
    List<Condition> all = new ArrayList<>();
    if (info.u16(0) != 0) {
      all.add(
          info.u16(0) == XT_ADDRTYPE_LOCAL
              ? new Condition.LocalSource().negatedIf(notFrom)
              : new Condition.UnknownCondition("-m addrtype" + source));
    }
    if (info.u16(2) != 0) {
      all.add(
          info.u16(2) == XT_ADDRTYPE_LOCAL
              ? new Condition.LocalDestination().negatedIf(notTo)
              : info.u16(2) == XT_ADDRTYPE_UNICAST && info.family() == Family.IPV4
                  ? unicast().negatedIf(notTo)
                  : new Condition.UnknownCondition("-m addrtype" + destination));
    }
    return new XtMatch(all, text);
  }

  private static String addressTypes(boolean inverted, String option, int types) {
    return types == 0 ? "" : XtInfo.option(inverted, option + XtInfo.names(types, ADDRESS_TYPES));
  }

  /**
   * The kernel looks at its own addresses and the broadcast addresses of its networks. It does not
   * forward packets to those, so only the node itself sends them through the hook.
   */
  private static Condition unicast() {
    Condition usual = new Condition.Destination(NOT_UNICAST).not();
    Condition elsewhere = new Condition.LocalDestination().not();
    Condition unknown = new Condition.UnknownCondition("-m addrtype --dst-type UNICAST");
    return new Condition.AnyOf(
        List.of(
            List.of(usual, elsewhere, new Condition.LocalSource().not()),
            List.of(usual, elsewhere, unknown)),
        "unicast addresses");
  }

  private static XtMatch mark(XtInfo info) {
    boolean inverted = info.u8(8) != 0;
    return new XtMatch(
        List.of(new Condition.Mark(info.u32(0), info.u32(4)).negatedIf(inverted)),
        "-m mark"
            + XtInfo.option(inverted, "--mark " + IptablesText.mark(info.u32(0), info.u32(4))));
  }

  private static XtMatch tcp(XtInfo info) {
    XtMatch ports = ports(info, "-m tcp", info.u8(11));
    boolean notFlags = (info.u8(11) & XT_TCP_INV_FLAGS) != 0;
    boolean notOption = (info.u8(11) & XT_TCP_INV_OPTION) != 0;
    String more = "";
    if (info.u8(8) != 0 || notOption) {
      more += XtInfo.option(notOption, "--tcp-option " + info.u8(8));
    }
    if (info.u8(9) != 0 || notFlags) {
      more += XtInfo.option(notFlags, IptablesText.tcpFlags(info.u8(9), info.u8(10)));
    }
    if (more.isEmpty()) {
      return ports;
    }
    List<Condition> all = new ArrayList<>(ports.conditions());
    all.add(new Condition.UnknownCondition("-m tcp" + more));
    return new XtMatch(all, ports.text() + more);
  }

  private static XtMatch udp(XtInfo info) {
    return ports(info, "-m udp", info.u8(8));
  }

  private static XtMatch ports(XtInfo info, String name, int flags) {
    List<Condition> all = new ArrayList<>();
    String text = name;
    if (info.u16(0) != 0 || info.u16(2) != 0xffff) {
      boolean not = (flags & XT_TCP_INV_SRCPT) != 0;
      String range = XtInfo.range(info.u16(0), info.u16(2), ":");
      text += XtInfo.option(not, "--sport " + range);
      all.add(new Condition.SourcePort(range).negatedIf(not));
    }
    if (info.u16(4) != 0 || info.u16(6) != 0xffff) {
      boolean not = (flags & XT_TCP_INV_DSTPT) != 0;
      text += XtInfo.option(not, "--dport " + XtInfo.range(info.u16(4), info.u16(6), ":"));
      PortRange range = new PortRange(Math.max(1, info.u16(4)), info.u16(6));
      all.add(new Condition.Port(List.of(range)).negatedIf(not));
    }
    return new XtMatch(all, text);
  }

  private static XtMatch multiport(XtInfo info) {
    int count = info.u8(1);
    List<PortRange> ranges = new ArrayList<>();
    List<String> words = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int first = info.u16(2 + 2 * i);
      boolean range = info.u8(32 + i) != 0;
      int last = range ? info.u16(2 + 2 * ++i) : first;
      ranges.add(new PortRange(Math.max(1, first), last));
      words.add(range ? first + ":" + last : "" + first);
    }
    boolean inverted = info.u8(47) != 0;
    String ports = String.join(",", words);
    String text = "-m multiport" + XtInfo.option(inverted, MULTIPORT.get(info.u8(0)) + ports);
    return info.u8(0) == XT_MULTIPORT_DESTINATION
        ? new XtMatch(List.of(new Condition.Port(ranges).negatedIf(inverted)), text)
        : XtMatch.unknown(text);
  }

  private static XtMatch range(XtInfo info) {
    int flags = info.u8(64);
    List<Condition> all = new ArrayList<>();
    String text = "-m iprange";
    if ((flags & IPRANGE_SRC) != 0) {
      boolean not = (flags & IPRANGE_SRC_INV) != 0;
      text += XtInfo.option(not, "--src-range " + info.address(0) + "-" + info.address(16));
      all.add(new Condition.Source(between(info, 0)).negatedIf(not));
    }
    if ((flags & IPRANGE_DST) != 0) {
      boolean not = (flags & IPRANGE_DST_INV) != 0;
      text += XtInfo.option(not, "--dst-range " + info.address(32) + "-" + info.address(48));
      all.add(new Condition.Destination(between(info, 32)).negatedIf(not));
    }
    return new XtMatch(all, text);
  }

  private static AddressRanges between(XtInfo info, int at) {
    return AddressRanges.of(new IpRange(info.address(at), info.address(at + 16)));
  }
}
