package ipmasq.netlink.nftables;

import ipmasq.netlink.nftables.Compute.Bitwise;
import ipmasq.netlink.nftables.Compute.Byteorder;
import ipmasq.netlink.nftables.Compute.Immediate;
import ipmasq.netlink.nftables.Compute.Numgen;
import ipmasq.netlink.nftables.Load.Ct;
import ipmasq.netlink.nftables.Load.Fib;
import ipmasq.netlink.nftables.Load.MapLookup;
import ipmasq.netlink.nftables.Load.Meta;
import ipmasq.netlink.nftables.Load.Payload;
import ipmasq.netlink.nftables.Match.Cmp;
import ipmasq.netlink.nftables.Match.InRange;
import ipmasq.netlink.nftables.Match.Lookup;
import ipmasq.netlink.nftables.Statement.Counter;
import ipmasq.netlink.nftables.Statement.Masquerade;
import ipmasq.netlink.nftables.Statement.Nat;
import ipmasq.netlink.nftables.Statement.NatFlag;
import ipmasq.netlink.nftables.Statement.ObjectReference;
import ipmasq.netlink.nftables.Statement.SetMeta;
import ipmasq.netlink.nftables.Statement.Verdict;
import java.util.BitSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Prints a rule: remembers what expressions load into registers, so that later ones can name it.
 * Used by one thread.
 */
final class RuleText {
  private static final Operand NOTHING = new Operand("?", Format.HEX);
  private static final int SLOTS = 16; // of four bytes each

  private final TableFamily family;
  private final StringBuilder text = new StringBuilder();
  private final @Nullable Operand[] slots = new Operand[SLOTS];
  private final BitSet unused = new BitSet();

  RuleText(TableFamily family) {
    this.family = family;
  }

  /** Registers 1 to 4 are four slots each, 8 to 23 are the slots themselves. */
  private static int slot(int register) {
    return register >= 1 && register <= 4
        ? (register - 1) * 4
        : register >= 8 && register < 8 + SLOTS ? register - 8 : -1;
  }

  void load(int register, Operand operand) {
    int slot = slot(register);
    if (slot >= 0) {
      slots[slot] = operand;
      unused.set(slot);
    }
  }

  Operand in(int register) {
    int slot = slot(register);
    Operand operand = slot < 0 ? null : slots[slot];
    return operand == null ? NOTHING : operand;
  }

  /**
   * The key that begins in a register. Its length is the set's; here it ends with what was loaded
   * since the last look at registers.
   */
  String key(int register) {
    StringBuilder key = new StringBuilder(in(register).toString());
    int first = slot(register);
    for (int i = unused.nextSetBit(first + 1); first >= 0 && i >= 0; i = unused.nextSetBit(i + 1)) {
      key.append(" . ").append(slots[i]);
    }
    unused.clear();
    return key.toString();
  }

  /** The family to name in a statement; empty if the table has only one. */
  String family(TableFamily of) {
    return family == of ? "" : of + " ";
  }

  /** What two registers hold, as a range. */
  String range(int first, int last, Format format) {
    String from = shown(first, format);
    String to = shown(last, format);
    return from.equals(to) ? from : from + "-" + to;
  }

  private String shown(int register, Format format) {
    Operand operand = in(register);
    return operand.constant().map(format::show).orElse(operand.toString());
  }

  void say(String words) {
    unused.clear();
    text.append(text.isEmpty() ? "" : " ").append(words);
  }

  void print(Expression expression) {
    switch (expression) {
      case Bitwise it -> load(it.to(), in(it.from()).masked(it));
      case Byteorder it -> load(it.to(), in(it.from()).turned());
      case Cmp it -> say(in(it.register()).compared(it.operator(), it.data()));
      case Ct it -> load(it.register(), operand(it));
      case Fib it -> load(it.register(), operand(it));
      case Immediate it -> load(it.register(), Operand.constant(it.data()));
      case InRange it -> print(it);
      case Lookup it -> print(it);
      case MapLookup it -> print(it);
      case Masquerade it -> print(it);
      case Meta it -> load(it.register(), new Operand(text(it.key()), format(it.key())));
      case Nat it -> print(it);
      case Numgen it -> print(it);
      case Payload it -> load(it.register(), operand(it));
      case SetMeta it ->
          say(text(it.key()) + " set " + range(it.register(), it.register(), format(it.key())));
      case Counter it -> say(it.toString());
      case ObjectReference it -> say(it.toString());
      case Expression.Unknown it -> say(it.toString());
      case Verdict it -> say(it.toString());
      case Expression.Xtables it -> say(it.toString());
    }
  }

  private void print(InRange it) {
    Operand operand = in(it.register());
    String sign = it.outside() ? " != " : " ";
    say(operand + sign + operand.shown(it.first()) + "-" + operand.shown(it.last()));
  }

  private void print(Lookup it) {
    String key = key(it.register());
    Operand operand = in(it.register());
    boolean masked = operand.toString().equals(key) && operand.isMasked();
    say(key + (it.absent() ? " != @" : masked ? " == @" : " @") + it.set());
  }

  private void print(MapLookup it) {
    if (it.isVerdict()) {
      say(key(it.register()) + " vmap @" + it.map());
    } else {
      load(it.to(), new Operand(key(it.register()) + " map @" + it.map(), Format.HEX));
    }
  }

  private void print(Masquerade it) {
    String ports =
        it.firstPort() == 0 ? "" : " to :" + range(it.firstPort(), it.lastPort(), Format.NUMBER);
    say("masquerade" + ports + text(it.flags()));
  }

  private void print(Nat it) {
    StringBuilder line = new StringBuilder(it.kind() == Nat.Kind.SNAT ? "snat " : "dnat ");
    line.append(family(it.family())).append("to ");
    if (it.firstAddress() != 0) {
      line.append(range(it.firstAddress(), it.lastAddress(), Format.ADDRESS));
    }
    if (it.firstPort() != 0) {
      line.append(':').append(range(it.firstPort(), it.lastPort(), Format.NUMBER));
    }
    say(line + text(it.flags()));
  }

  private void print(Numgen it) {
    String name = it.kind() == Numgen.Kind.INC ? "numgen inc mod " : "numgen random mod ";
    String from = it.offset() == 0 ? "" : " offset " + Integer.toUnsignedString(it.offset());
    String all = name + Integer.toUnsignedString(it.modulus()) + from;
    load(it.register(), new Operand(all, Format.HOST));
  }

  /** As nft writes them, with a leading space; empty if there are none. */
  private static String text(Set<NatFlag> flags) {
    StringBuilder text = new StringBuilder();
    for (NatFlag flag : NatFlag.values()) {
      if (flags.contains(flag)) {
        text.append(text.isEmpty() ? ' ' : ',').append(flag);
      }
    }
    return text.toString();
  }

  private static String text(Meta.Key key) {
    return switch (key) {
      case IIF, OIF, IIFNAME, OIFNAME, IIFTYPE, OIFTYPE, IIFGROUP, OIFGROUP, IIFKIND, OIFKIND ->
          key.name().toLowerCase(Locale.ROOT);
      case PRANDOM -> "meta random";
      case SECPATH -> "meta ipsec";
      default -> "meta " + key.name().toLowerCase(Locale.ROOT);
    };
  }

  private static Format format(Meta.Key key) {
    return switch (key) {
      case LENGTH, IIF, OIF, SKUID, SKGID, RTCLASSID, CPU, IIFGROUP, OIFGROUP, CGROUP ->
          Format.HOST;
      case PROTOCOL, NFTRACE, PKTTYPE, SECPATH -> Format.NUMBER;
      case PRIORITY, IIFTYPE, OIFTYPE, SECMARK, PRANDOM -> Format.HEX;
      case MARK -> Format.MARK;
      case IIFNAME, OIFNAME, IIFKIND, OIFKIND -> Format.NAME;
      case NFPROTO -> Format.FAMILY;
      case L4PROTO -> Format.PROTOCOL;
    };
  }

  private static Operand operand(Ct it) {
    return switch (it.key()) {
      case STATE -> new Operand("ct state", Format.CT_STATE);
      case DIRECTION -> new Operand("ct direction", Format.CT_DIRECTION);
      case STATUS -> new Operand("ct status", Format.CT_STATUS);
      case MARK -> new Operand("ct mark", Format.MARK);
    };
  }

  private static Operand operand(Fib it) {
    StringBuilder question = new StringBuilder("fib ");
    String between = "";
    for (Fib.Flag flag : Fib.Flag.values()) {
      if (it.flags().contains(flag)) {
        question.append(between).append(flag.name().toLowerCase(Locale.ROOT));
        between = " . ";
      }
    }
    question.append(' ').append(it.result().name().toLowerCase(Locale.ROOT));
    return new Operand(
        question.toString(),
        switch (it.result()) {
          case OIF -> Format.HOST;
          case OIFNAME -> Format.NAME;
          case TYPE -> Format.ADDRESS_TYPE;
        });
  }

  /** nft compares a prefix of whole bytes by loading only those. */
  private static Operand operand(Payload it) {
    int offset = it.offset();
    int length = it.length();
    if (it.base() == Payload.Base.NETWORK && length > 0) {
      if (offset == 12 && length <= 4) {
        return Operand.address("ip saddr", 4);
      }
      if (offset == 16 && length <= 4) {
        return Operand.address("ip daddr", 4);
      }
      if (offset == 8 && length > 1 && length <= 16) {
        return Operand.address("ip6 saddr", 16);
      }
      if (offset == 24 && length <= 16) {
        return Operand.address("ip6 daddr", 16);
      }
      if (offset == 6 && length == 1) {
        return new Operand("ip6 nexthdr", Format.PROTOCOL);
      }
      if (offset == 9 && length == 1) {
        return new Operand("ip protocol", Format.PROTOCOL);
      }
    }
    if (it.base() == Payload.Base.TRANSPORT && length == 2 && (offset == 0 || offset == 2)) {
      return new Operand(offset == 0 ? "th sport" : "th dport", Format.NUMBER);
    }
    String base =
        switch (it.base()) {
          case LINK -> "ll";
          case NETWORK -> "nh";
          case TRANSPORT -> "th";
          case INNER -> "ih";
        };
    return new Operand("@" + base + "," + offset * 8L + "," + length * 8L, Format.HEX);
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
