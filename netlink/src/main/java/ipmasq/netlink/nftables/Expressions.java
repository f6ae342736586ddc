package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.Data;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;
import ipmasq.netlink.nftables.Compute.Bitwise;
import ipmasq.netlink.nftables.Compute.Byteorder;
import ipmasq.netlink.nftables.Compute.Immediate;
import ipmasq.netlink.nftables.Compute.Numgen;
import ipmasq.netlink.nftables.Expression.Unknown;
import ipmasq.netlink.nftables.Expression.Xtables;
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
import ipmasq.netlink.nftables.Statement.ObjectReference;
import ipmasq.netlink.nftables.Statement.SetMeta;
import ipmasq.netlink.nftables.Statement.Verdict;
import java.util.EnumSet;
import java.util.Set;

/** Maps the kernel's names of expressions to records and back. */
final class Expressions {
  private static final int NFTA_EXPR_NAME = 1;
  private static final int NFTA_EXPR_DATA = 2;
  static final int NFTA_LIST_ELEM = 1;
  static final int NFTA_DATA_VALUE = 1;
  static final int NFTA_DATA_VERDICT = 2;

  private Expressions() {}

  static void write(MessageWriter out, int type, Expression expression) {
    int whole = out.nest(type);
    out.string(NFTA_EXPR_NAME, name(expression));
    int nest = out.nest(NFTA_EXPR_DATA);
    expression.write(out);
    out.end(nest).end(whole);
  }

  private static String name(Expression expression) {
    return switch (expression) {
      case Bitwise _ -> "bitwise";
      case Byteorder _ -> "byteorder";
      case Cmp _ -> "cmp";
      case Counter _ -> "counter";
      case Ct _ -> "ct";
      case Fib _ -> "fib";
      case Immediate _, Verdict _ -> "immediate";
      case InRange _ -> "range";
      case Lookup _, MapLookup _ -> "lookup";
      case Masquerade _ -> "masq";
      case Meta _, SetMeta _ -> "meta";
      case Nat _ -> "nat";
      case Numgen _ -> "numgen";
      case ObjectReference _ -> "objref";
      case Payload _ -> "payload";
      case Unknown it -> it.name();
      case Xtables it -> it.kind() == Xtables.XtKind.MATCH ? "match" : "target";
    };
  }

  /** The expression; one that its record cannot fully represent is kept as bytes. */
  static Expression read(Attributes attributes) throws MalformedMessage {
    String name = attributes.string(NFTA_EXPR_NAME);
    try {
      return read(name, attributes.nested(NFTA_EXPR_DATA));
    } catch (MalformedMessage more) {
      return new Unknown(name, Data.of(attributes.bytesOrNone(NFTA_EXPR_DATA)));
    }
  }

  static boolean isCounter(Attributes attributes) throws MalformedMessage {
    return attributes.string(NFTA_EXPR_NAME, "").equals("counter");
  }

  private static Expression read(String name, Attributes data) throws MalformedMessage {
    return switch (name) {
      case "bitwise" -> Bitwise.read(data);
      case "byteorder" -> Byteorder.read(data);
      case "cmp" -> Cmp.read(data);
      case "counter" -> Counter.read(data);
      case "ct" -> Ct.read(data);
      case "fib" -> Fib.read(data);
      case "immediate" -> Immediate.read(data);
      case "lookup" -> Lookup.read(data);
      case "masq" -> Masquerade.read(data);
      case "match" -> Xtables.read(Xtables.XtKind.MATCH, data);
      case "meta" -> Meta.read(data);
      case "nat" -> Nat.read(data);
      case "numgen" -> Numgen.read(data);
      case "objref" -> ObjectReference.read(data);
      case "payload" -> Payload.read(data);
      case "range" -> InRange.read(data);
      case "target" -> Xtables.read(Xtables.XtKind.TARGET, data);
      default -> throw new MalformedMessage("expression " + name);
    };
  }

  /** Writes what nf_tables wraps every constant in. */
  static void data(MessageWriter out, int type, Data data) {
    int nest = out.nest(type);
    out.bytes(NFTA_DATA_VALUE, data.bytes()).end(nest);
  }

  static Data data(Attributes attributes, int type) throws MalformedMessage {
    return Data.of(attributes.nested(type).bytes(NFTA_DATA_VALUE));
  }

  /** The constant of an enum that the kernel numbers from zero in the same order. */
  static <E extends Enum<E>> E numbered(E[] values, int number) throws MalformedMessage {
    if (number < 0 || number >= values.length) {
      throw new MalformedMessage("number " + number + " of " + values.length);
    }
    return values[number];
  }

  /** The flags of an enum whose constants are bits in the same order; other bits are left out. */
  static <E extends Enum<E>> Set<E> flags(Class<E> type, int bits) {
    Set<E> flags = EnumSet.allOf(type);
    flags.removeIf(flag -> (bits & 1 << flag.ordinal()) == 0);
    return flags;
  }

  static int bits(Set<? extends Enum<?>> flags) {
    return flags.stream().mapToInt(flag -> 1 << flag.ordinal()).sum();
  }

  /** Rejects attributes that the record cannot represent. */
  static void refuse(Attributes attributes, int... types) throws MalformedMessage {
    for (int type : types) {
      if (attributes.has(type)) {
        throw new MalformedMessage("attribute " + type + " has no place");
      }
    }
  }
}
