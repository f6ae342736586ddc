package ipmasq.hook.nftables;

import ipmasq.hook.Action;
import ipmasq.hook.AddressRanges;
import ipmasq.hook.Condition;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import ipmasq.netlink.nftables.Xtables;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Reads the structures of iptables' matches and targets, as {@code iptables-nft} leaves them in a
 * rule. They are the kernel's interface to iptables and never change; a new one has a new revision.
 * An unknown one is named, and may match.
 */
final class XtDecoder {
  private static final int XT_ADDRTYPE_LOCAL = 1 << 2;
  private static final int XT_ADDRTYPE_INVERT_SOURCE = 1;
  private static final int XT_ADDRTYPE_INVERT_DEST = 2;
  private static final int XT_TCP_INV_SRCPT = 1; // XT_UDP_* has the same numbers
  private static final int XT_TCP_INV_DSTPT = 2;
  private static final int XT_MULTIPORT_DESTINATION = 1;
  private static final int XT_CONNTRACK_STATE = 1;
  private static final int XT_CONNTRACK_STATUS = 1 << 6;
  private static final int XT_CONNTRACK_STATE_BIT_NEW = 8; // XT_CONNTRACK_STATE_BIT(IP_CT_NEW)
  private static final int IPS_KNOWN = 0x3f; // IPS_EXPECTED to IPS_DST_NAT: none in a first packet
  private static final int IPRANGE_SRC = 1;
  private static final int IPRANGE_DST = 2;
  private static final int IPRANGE_SRC_INV = 16;
  private static final int IPRANGE_DST_INV = 32;
  private static final int NF_NAT_RANGE_MAP_IPS = 1;
  private static final int NF_NAT_RANGE_PROTO_RANDOM_FULLY = 1 << 4;
  private static final int XT_CONNMARK_RESTORE = 2;
  private static final int XT_CT_NOTRACK = 1;
  private static final int XT_CONNTRACK_STATE_ALIAS = 1 << 13;

  private XtDecoder() {}

  static String comment(Xtables match) {
    byte[] bytes = match.info().bytes();
    int end = 0;
    while (end < bytes.length && bytes[end] != 0) {
      end++;
    }
    return new String(bytes, 0, end, StandardCharsets.UTF_8);
  }

  static List<Condition> match(Xtables match, Family family) {
    try {
      ByteBuffer info = info(match);
      return switch (match.name() + " " + match.revision()) {
        case "addrtype 1" -> addressType(info);
        case "mark 1" -> mark(info);
        case "tcp 0" -> ports(info, 11, true);
        case "udp 0" -> ports(info, 8, false);
        case "multiport 1" -> multiport(info);
        case "conntrack 2", "conntrack 3" -> conntrack(info);
        case "state 0" -> List.of(state(info.getInt(0), false));
        case "iprange 1" -> range(info, family);
        default -> unknown(match);
      };
    } catch (BufferUnderflowException | IndexOutOfBoundsException | IllegalArgumentException odd) {
      return unknown(match);
    }
  }

  private static List<Condition> unknown(Xtables match) {
    return List.of(new Condition.UnknownCondition("-m " + match.name()));
  }

  private static ByteBuffer info(Xtables xtables) {
    return ByteBuffer.wrap(xtables.info().bytes()).order(ByteOrder.nativeOrder());
  }

  private static List<Condition> addressType(ByteBuffer info) {
    int source = info.getShort(0) & 0xffff;
    int destination = info.getShort(2) & 0xffff;
    int flags = info.getInt(4);
    List<Condition> all = new ArrayList<>();
    if ((flags & ~(XT_ADDRTYPE_INVERT_SOURCE | XT_ADDRTYPE_INVERT_DEST)) != 0) {
      return List.of(new Condition.UnknownCondition("-m addrtype --limit-iface"));
    }
    if (source != 0) {
      all.add(
          (source == XT_ADDRTYPE_LOCAL
                  ? new Condition.LocalSource()
                  : new Condition.UnknownCondition("-m addrtype --src-type"))
              .negatedIf((flags & XT_ADDRTYPE_INVERT_SOURCE) != 0));
    }
    if (destination != 0) {
      all.add(
          (destination == XT_ADDRTYPE_LOCAL
                  ? new Condition.LocalDestination()
                  : new Condition.UnknownCondition("-m addrtype --dst-type"))
              .negatedIf((flags & XT_ADDRTYPE_INVERT_DEST) != 0));
    }
    return all;
  }

  private static List<Condition> mark(ByteBuffer info) {
    long value = info.getInt(0) & 0xffff_ffffL;
    long mask = info.getInt(4) & 0xffff_ffffL;
    return List.of(new Condition.Mark(value, mask).negatedIf(info.get(8) != 0));
  }

  private static List<Condition> ports(ByteBuffer info, int flagsAt, boolean tcp) {
    int flags = info.get(flagsAt);
    List<Condition> all = new ArrayList<>();
    if (port(info, 0) != 0 || port(info, 2) != 0xffff) {
      all.add(
          new Condition.SourcePort(port(info, 0) + ":" + port(info, 2))
              .negatedIf((flags & XT_TCP_INV_SRCPT) != 0));
    }
    if (port(info, 4) != 0 || port(info, 6) != 0xffff) {
      PortRange range = new PortRange(Math.max(1, port(info, 4)), port(info, 6));
      all.add(new Condition.Port(List.of(range)).negatedIf((flags & XT_TCP_INV_DSTPT) != 0));
    }
    if (tcp && (info.get(8) != 0 || info.get(9) != 0)) {
      all.add(new Condition.UnknownCondition("-m tcp --tcp-flags or --tcp-option"));
    }
    return all;
  }

  private static int port(ByteBuffer info, int at) {
    return info.getShort(at) & 0xffff;
  }

  private static List<Condition> multiport(ByteBuffer info) {
    int count = info.get(1) & 0xff;
    List<PortRange> ranges = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int first = port(info, 2 + 2 * i);
      boolean range = info.get(32 + i) != 0;
      int last = range ? port(info, 2 + 2 * ++i) : first;
      ranges.add(new PortRange(Math.max(1, first), last));
    }
    boolean inverted = info.get(47) != 0;
    Condition condition =
        info.get(0) == XT_MULTIPORT_DESTINATION
            ? new Condition.Port(ranges)
            : new Condition.UnknownCondition("-m multiport");
    return List.of(condition.negatedIf(inverted));
  }

  private static List<Condition> conntrack(ByteBuffer info) {
    int flags = info.getShort(146) & 0xffff & ~XT_CONNTRACK_STATE_ALIAS; // how it was written
    int inverted = info.getShort(148) & 0xffff;
    List<Condition> all = new ArrayList<>();
    if ((flags & ~(XT_CONNTRACK_STATE | XT_CONNTRACK_STATUS)) != 0) {
      all.add(new Condition.UnknownCondition("-m conntrack"));
    }
    if ((flags & XT_CONNTRACK_STATE) != 0) {
      all.add(state(info.getShort(150) & 0xffff, (inverted & XT_CONNTRACK_STATE) != 0));
    }
    if ((flags & XT_CONNTRACK_STATUS) != 0) {
      int wanted = info.getShort(152) & 0xffff;
      boolean none = (wanted & ~IPS_KNOWN) == 0;
      all.add(
          !none
              ? new Condition.UnknownCondition("-m conntrack --ctstatus")
              : (inverted & XT_CONNTRACK_STATUS) != 0
                  ? Condition.AnyOf.ALWAYS
                  : Condition.AnyOf.NEVER);
    }
    return all;
  }

  /** The first packet of a connection is NEW only, and not translated yet. */
  private static Condition state(int mask, boolean inverted) {
    return ((mask & XT_CONNTRACK_STATE_BIT_NEW) != 0) != inverted
        ? Condition.AnyOf.ALWAYS
        : Condition.AnyOf.NEVER;
  }

  private static List<Condition> range(ByteBuffer info, Family family) {
    int flags = info.get(64);
    List<Condition> all = new ArrayList<>();
    if ((flags & IPRANGE_SRC) != 0) {
      all.add(
          new Condition.Source(between(info, 0, family)).negatedIf((flags & IPRANGE_SRC_INV) != 0));
    }
    if ((flags & IPRANGE_DST) != 0) {
      all.add(
          new Condition.Destination(between(info, 32, family))
              .negatedIf((flags & IPRANGE_DST_INV) != 0));
    }
    return all;
  }

  private static AddressRanges between(ByteBuffer info, int at, Family family) {
    return AddressRanges.of(new IpRange(address(info, at, family), address(info, at + 16, family)));
  }

  private static Ip address(ByteBuffer info, int at, Family family) {
    return Ip.ofBytes(Arrays.copyOfRange(info.array(), at, at + family.bytes()));
  }

  static Action target(Xtables target, Family family) {
    try {
      ByteBuffer info = info(target);
      return switch (target.name()) {
        case "MASQUERADE" -> new Action.Translate("MASQUERADE");
        case "NETMAP" -> new Action.UnknownAction("-j NETMAP");
        case "SNAT" -> snat(info, target.revision(), family);
        case "DNAT", "REDIRECT" -> new Action.ChangeDestination(target.name());
        case "MARK" -> target.revision() == 2 ? setMark(info) : Action.SetMark.UNKNOWN;
        case "CONNMARK" -> connmark(info, target.revision());
        case "NOTRACK" -> new Action.Untrack();
        case "CT" ->
            (info.getShort(0) & XT_CT_NOTRACK) != 0 ? new Action.Untrack() : new Action.NoAction();
        case "LOG", "NFLOG", "TRACE", "CLASSIFY" -> new Action.NoAction();
        default -> new Action.UnknownAction("-j " + target.name());
      };
    } catch (BufferUnderflowException | IndexOutOfBoundsException | IllegalArgumentException odd) {
      return new Action.UnknownAction("-j " + target.name());
    }
  }

  /** Options of a target that are worth printing. */
  static String options(Xtables target, Family family) {
    try {
      ByteBuffer info = info(target);
      boolean oldest = target.revision() == 0 && family == Family.IPV4;
      return switch (target.name()) {
        case "MASQUERADE", "SNAT" ->
            (info.getInt(oldest ? 4 : 0) & NF_NAT_RANGE_PROTO_RANDOM_FULLY) != 0
                ? " --random-fully"
                : "";
        case "MARK" ->
            " --set-xmark 0x"
                + Integer.toHexString(info.getInt(0))
                + "/0x"
                + Integer.toHexString(info.getInt(4));
        default -> "";
      };
    } catch (IndexOutOfBoundsException odd) {
      return "";
    }
  }

  /** Restoring changes only the bits of nfmask; the other modes change the connection's mark. */
  private static Action connmark(ByteBuffer info, int revision) {
    if (revision != 1 && revision != 2) {
      return Action.SetMark.UNKNOWN;
    }
    int mode = revision == 1 ? info.get(12) : info.get(14); // after a shift
    if (mode != XT_CONNMARK_RESTORE) {
      return new Action.NoAction();
    }
    return Action.SetMark.unknown(info.getInt(8) & 0xffff_ffffL);
  }

  private static Action setMark(ByteBuffer info) {
    long value = info.getInt(0) & 0xffff_ffffL;
    long mask = info.getInt(4) & 0xffff_ffffL;
    return new Action.SetMark(~mask & 0xffff_ffffL, value);
  }

  /** Revision 0 is IPv4's own; later ones hold addresses of either family. */
  private static Action snat(ByteBuffer info, int revision, Family family) {
    int flags = info.getInt(revision == 0 && family == Family.IPV4 ? 4 : 0);
    if ((flags & NF_NAT_RANGE_MAP_IPS) == 0) {
      return new Action.UnknownAction("-j SNAT");
    }
    int first = revision == 0 && family == Family.IPV4 ? 8 : 4;
    int last = revision == 0 && family == Family.IPV4 ? 12 : 20;
    return new Action.Translate(
        "SNAT",
        Optional.of(new IpRange(address(info, first, family), address(info, last, family))));
  }
}
