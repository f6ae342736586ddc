package ipmasq.netlink.nftables;

import ipmasq.netlink.AttributeReader;
import ipmasq.netlink.Attributes;
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

  static String name(Expression expression) {
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
      case Xtables it -> it.kind().toString();
    };
  }

  /** The expression; one that its record cannot fully represent is kept as bytes. */
  static Expression read(AttributeReader reader) throws MalformedMessage {
    Attributes attributes = Attributes.of(reader, NFTA_EXPR_DATA);
    String name = attributes.string(NFTA_EXPR_NAME);
    try {
      return read(name, attributes.list(NFTA_EXPR_DATA));
    } catch (MalformedMessage more) {
      byte[] data = attributes.has(NFTA_EXPR_DATA) ? attributes.bytes(NFTA_EXPR_DATA) : new byte[0];
      return new Unknown(name, Data.of(data));
    }
  }

  static boolean isCounter(AttributeReader reader) throws MalformedMessage {
    while (reader.next()) {
      if (reader.type() == NFTA_EXPR_NAME) {
        return reader.string().equals("counter");
      }
    }
    return false;
  }

  private static Expression read(String name, AttributeReader data) throws MalformedMessage {
    return switch (name) {
      case "bitwise" -> Bitwise.read(Attributes.of(data, Bitwise.HIGHEST));
      case "byteorder" -> Byteorder.read(Attributes.of(data, Byteorder.HIGHEST));
      case "cmp" -> Cmp.read(Attributes.of(data, Cmp.HIGHEST));
      case "counter" -> Counter.read(Attributes.of(data, Counter.HIGHEST));
      case "ct" -> Ct.read(Attributes.of(data, Ct.HIGHEST));
      case "fib" -> Fib.read(Attributes.of(data, Fib.HIGHEST));
      case "immediate" -> Immediate.read(Attributes.of(data, Immediate.HIGHEST));
      case "lookup" -> Lookup.read(Attributes.of(data, Lookup.HIGHEST));
      case "masq" -> Masquerade.read(Attributes.of(data, Masquerade.HIGHEST));
      case "match" -> Xtables.read(Xtables.XtKind.MATCH, Attributes.of(data, Xtables.HIGHEST));
      case "meta" -> Meta.read(Attributes.of(data, Meta.HIGHEST));
      case "nat" -> Nat.read(Attributes.of(data, Nat.HIGHEST));
      case "numgen" -> Numgen.read(Attributes.of(data, Numgen.HIGHEST));
      case "objref" -> ObjectReference.read(Attributes.of(data, ObjectReference.HIGHEST));
      case "payload" -> Payload.read(Attributes.of(data, Payload.HIGHEST));
      case "range" -> InRange.read(Attributes.of(data, InRange.HIGHEST));
      case "target" -> Xtables.read(Xtables.XtKind.TARGET, Attributes.of(data, Xtables.HIGHEST));
      default -> throw new MalformedMessage("expression " + name);
    };
  }

  /** Writes what nf_tables wraps every constant in. */
  static void data(MessageWriter out, int type, Data data) {
    int nest = out.nest(type);
    out.bytes(NFTA_DATA_VALUE, data.bytes()).end(nest);
  }

  static Data data(Attributes attributes, int type) throws MalformedMessage {
    return Data.of(attributes.nested(type, NFTA_DATA_VALUE).bytes(NFTA_DATA_VALUE));
  }

  /** The constant of an enum that the kernel numbers from zero in the same order. */
  static <E extends Enum<E>> E numbered(E[] values, int number) throws MalformedMessage {
    if (number < 0 || number >= values.length) {
      throw new MalformedMessage("number " + number + " of " + values.length);
    }
    return values[number];
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
