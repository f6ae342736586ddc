package ipmasq.backend.nftables;

import ipmasq.hook.Action;
import ipmasq.hook.Condition;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import ipmasq.netlink.nftables.Bitwise;
import ipmasq.netlink.nftables.Byteorder;
import ipmasq.netlink.nftables.Cmp;
import ipmasq.netlink.nftables.Counter;
import ipmasq.netlink.nftables.Ct;
import ipmasq.netlink.nftables.Data;
import ipmasq.netlink.nftables.Expression;
import ipmasq.netlink.nftables.Fib;
import ipmasq.netlink.nftables.Immediate;
import ipmasq.netlink.nftables.InRange;
import ipmasq.netlink.nftables.Lookup;
import ipmasq.netlink.nftables.Masquerade;
import ipmasq.netlink.nftables.Meta;
import ipmasq.netlink.nftables.Nat;
import ipmasq.netlink.nftables.Numgen;
import ipmasq.netlink.nftables.Payload;
import ipmasq.netlink.nftables.Rule;
import ipmasq.netlink.nftables.Unknown;
import ipmasq.netlink.nftables.Verdict;
import ipmasq.netlink.nftables.Xtables;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Reads anybody's rule of nf_tables by following what its registers hold: loads put something in,
 * masks change it, comparisons ask about it.
 */
final class ForeignRule {
  private final Family family;
  private final Function<String, Optional<List<IpRange>>> sets;
  private final Map<Integer, Operand> registers = new HashMap<>();
  private final List<Condition> conditions = new ArrayList<>();
  private Optional<Action> action = Optional.empty();
  private boolean never;

  /** What a register holds. */
  private enum What {
    SOURCE,
    DESTINATION,
    PROTOCOL,
    PORT,
    MARK,
    OUT,
    FAMILY,
    LOCAL,
    CONSTANT,
    OTHER
  }

  /**
   * @param mask the bits that were kept; nothing: all
   */
  private record Operand(What what, Optional<byte[]> mask) {
    static Operand of(What what) {
      return new Operand(what, Optional.empty());
    }
  }

  private ForeignRule(Family family, Function<String, Optional<List<IpRange>>> sets) {
    this.family = family;
    this.sets = sets;
  }

  /** Whether iptables-nft wrote it. */
  static boolean isOfIptables(Rule rule) {
    return rule.expressions().stream().anyMatch(Xtables.class::isInstance);
  }

  /** The rule; nothing where it never concerns this family. */
  static Optional<ipmasq.hook.Rule> read(
      Rule rule, Family family, Function<String, Optional<List<IpRange>>> sets) {
    ForeignRule reader = new ForeignRule(family, sets);
    for (Expression expression : rule.expressions()) {
      reader.step(expression);
    }
    return reader.never
        ? Optional.empty()
        : Optional.of(
            new ipmasq.hook.Rule(
                reader.conditions, reader.action.orElse(new Action.Nothing()), rule.toString()));
  }

  private void step(Expression expression) {
    switch (expression) {
      case Payload(var to, var base, var offset, var length) ->
          load(to, payload(base, offset, length));
      case Meta(var to, var key) -> load(to, meta(key));
      case Fib fib -> load(fib.register(), fib(fib));
      case Ct(var to, var _) -> load(to, What.OTHER);
      case Numgen numgen -> load(numgen.register(), What.OTHER);
      case Immediate(var to, var _) -> load(to, What.CONSTANT);
      case Byteorder order -> load(order.to(), What.OTHER);
      case Bitwise bitwise -> mask(bitwise);
      case Cmp(var register, var operator, var data) -> compare(register, operator, data);
      case InRange range -> range(range);
      case Lookup(var register, var set, var absent) -> lookup(register, set, absent);
      case Counter _ -> {}
      case Masquerade _ -> action = Optional.of(new Action.Translate("masquerade"));
      case Nat nat -> action = Optional.of(nat(nat));
      case Verdict verdict -> action = Optional.of(verdict(verdict));
      case Xtables xtables -> unknown(xtables.toString());
      case Unknown(var name, var _) -> unknown(name, expression);
    }
  }

  private void load(int register, What what) {
    registers.put(register, Operand.of(what));
  }

  private What payload(Payload.Base base, int offset, int length) {
    if (base == Payload.Base.TRANSPORT) {
      return offset == 2 && length == 2 ? What.PORT : What.OTHER;
    }
    if (base != Payload.Base.NETWORK) {
      return What.OTHER;
    }
    // nft loads only the bytes that a prefix of whole bytes asks about.
    return switch (family) {
      case IPV4 ->
          offset == 12 && length <= 4
              ? What.SOURCE
              : offset == 16 && length <= 4
                  ? What.DESTINATION
                  : offset == 9 && length == 1 ? What.PROTOCOL : What.OTHER;
      case IPV6 ->
          offset == 8 && length <= 16 && length > 1
              ? What.SOURCE
              : offset == 24 && length <= 16
                  ? What.DESTINATION
                  : offset == 6 && length == 1 ? What.PROTOCOL : What.OTHER;
    };
  }

  private static What meta(Meta.Key key) {
    return switch (key) {
      case NFPROTO -> What.FAMILY;
      case L4PROTO -> What.PROTOCOL;
      case MARK -> What.MARK;
      case OIFNAME -> What.OUT;
      case PROTOCOL, IIF, OIF, IIFNAME -> What.OTHER;
    };
  }

  private static What fib(Fib fib) {
    return fib.result() == Fib.Result.TYPE && fib.flags().contains(Fib.Flag.DADDR)
        ? What.LOCAL
        : What.OTHER;
  }

  private Operand held(int register) {
    return registers.getOrDefault(register, Operand.of(What.OTHER));
  }

  private void mask(Bitwise bitwise) {
    Operand from = held(bitwise.from());
    boolean plain = zero(bitwise.xor().bytes());
    registers.put(
        bitwise.to(),
        plain
            ? new Operand(from.what, Optional.of(bitwise.mask().bytes()))
            : Operand.of(What.OTHER));
  }

  private static boolean zero(byte[] bytes) {
    for (byte b : bytes) {
      if (b != 0) {
        return false;
      }
    }
    return true;
  }

  private void compare(int register, Cmp.Operator operator, Data data) {
    boolean equal = operator == Cmp.Operator.EQ;
    if (!equal && operator != Cmp.Operator.NEQ) {
      unknown("a comparison");
      return;
    }
    Operand operand = held(register);
    byte[] bytes = data.bytes();
    if (operand.what == What.FAMILY && bytes.length == 1) {
      boolean ours = bytes[0] == (family == Family.IPV4 ? 2 : 10);
      never |= ours != equal;
      return;
    }
    Optional<Condition> condition = condition(operand, bytes);
    conditions.add(
        condition
            .orElse(new Condition.Unknown("a match that is not known here"))
            .negatedIf(!equal));
  }

  private Optional<Condition> condition(Operand operand, byte[] bytes) {
    return switch (operand.what) {
      case SOURCE -> block(operand, bytes).map(Condition::source);
      case DESTINATION -> block(operand, bytes).map(Condition::destination);
      case PROTOCOL ->
          bytes.length == 1 ? Optional.of(new Condition.Protocol(protocol(bytes[0]))) : none();
      case PORT ->
          port(bytes) > 0
              ? Optional.of(new Condition.Port(List.of(new PortRange(port(bytes), port(bytes)))))
              : none();
      case MARK ->
          Optional.of(
              new Condition.Mark(
                  number(bytes), operand.mask.map(ForeignRule::number).orElse(0xffff_ffffL)));
      case OUT -> Optional.of(new Condition.Out(List.of(name(bytes))));
      case LOCAL ->
          bytes.length == 4 && number(bytes) == 2
              ? Optional.of(new Condition.LocalDestination())
              : none();
      case FAMILY, CONSTANT, OTHER -> none();
    };
  }

  private static Optional<Condition> none() {
    return Optional.empty();
  }

  /** An address with the mask's length, or the beginning of one. */
  private Optional<Cidr> block(Operand operand, byte[] bytes) {
    int prefix = bytes.length * 8;
    if (operand.mask.isPresent()) {
      prefix = length(operand.mask.get());
      if (prefix < 0) {
        return Optional.empty();
      }
    }
    byte[] whole = new byte[family.bytes()];
    if (bytes.length > whole.length) {
      return Optional.empty();
    }
    System.arraycopy(bytes, 0, whole, 0, bytes.length);
    try {
      return Optional.of(new Cidr(Ip.ofBytes(whole), prefix));
    } catch (IllegalArgumentException bitsBeyondTheMask) {
      return Optional.empty();
    }
  }

  /** How many leading ones; -1 where ones follow a zero. */
  private static int length(byte[] mask) {
    int length = 0;
    boolean ended = false;
    for (int i = 0; i < mask.length * 8; i++) {
      boolean one = (mask[i / 8] >> 7 - i % 8 & 1) == 1;
      if (one && ended) {
        return -1;
      }
      ended |= !one;
      length += one ? 1 : 0;
    }
    return length;
  }

  private static int port(byte[] bytes) {
    return bytes.length == 2 ? (bytes[0] & 0xff) << 8 | bytes[1] & 0xff : -1;
  }

  private static long number(byte[] bytes) {
    return bytes.length == 4
        ? ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).getInt() & 0xffff_ffffL
        : -1;
  }

  private static String protocol(byte number) {
    return switch (number) {
      case 1 -> "icmp";
      case 6 -> "tcp";
      case 17 -> "udp";
      case 58 -> "icmpv6";
      case (byte) 132 -> "sctp";
      default -> "protocol " + (number & 0xff);
    };
  }

  /** A name, or the beginning of one where the kernel compares fewer bytes. */
  private static String name(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    int end = text.indexOf('\0');
    return end < 0 ? text + "+" : text.substring(0, end);
  }

  private void range(InRange range) {
    Operand operand = held(range.register());
    byte[] first = range.first().bytes();
    byte[] last = range.last().bytes();
    Optional<Condition> condition = Optional.empty();
    boolean addresses = first.length == family.bytes() && last.length == family.bytes();
    if (operand.what == What.PORT && port(first) > 0 && port(last) >= port(first)) {
      condition = Optional.of(new Condition.Port(List.of(new PortRange(port(first), port(last)))));
    } else if (addresses && Ip.ofBytes(first).compareTo(Ip.ofBytes(last)) <= 0) {
      condition = in(operand, List.of(new IpRange(Ip.ofBytes(first), Ip.ofBytes(last))));
    }
    conditions.add(condition.orElse(new Condition.Unknown("a range")).negatedIf(range.outside()));
  }

  private static Optional<Condition> in(Operand operand, List<IpRange> ranges) {
    if (operand.mask.isPresent()) {
      return Optional.empty();
    }
    return switch (operand.what) {
      case SOURCE -> Optional.of(new Condition.Source(ranges));
      case DESTINATION -> Optional.of(new Condition.Destination(ranges));
      case PROTOCOL, PORT, MARK, OUT, FAMILY, LOCAL, CONSTANT, OTHER -> Optional.empty();
    };
  }

  private void lookup(int register, String set, boolean absent) {
    Operand operand = held(register);
    boolean address = operand.what == What.SOURCE || operand.what == What.DESTINATION;
    Optional<List<IpRange>> ranges = address ? sets.apply(set) : Optional.empty();
    conditions.add(
        ranges
            .flatMap(elements -> in(operand, elements))
            .orElse(new Condition.Unknown("set @" + set))
            .negatedIf(absent));
  }

  /** An SNAT to what the source already is binds the connection to it. */
  private Action nat(Nat nat) {
    return nat.kind() == Nat.Kind.SNAT
        ? held(nat.firstAddress()).what == What.SOURCE && nat.firstAddress() != 0
            ? new Action.Keep()
            : new Action.Translate("snat")
        : new Action.Unknown("dnat");
  }

  private static Action verdict(Verdict verdict) {
    return switch (verdict.code()) {
      case DROP -> new Action.Drop();
      case ACCEPT -> new Action.Accept();
      case CONTINUE -> new Action.Nothing();
      case JUMP -> new Action.Jump(verdict.chain());
      case GOTO -> new Action.Goto(verdict.chain());
      case RETURN -> new Action.Return();
    };
  }

  private void unknown(String text) {
    conditions.add(new Condition.Unknown(text));
  }

  /** What neither asks nor decides is let pass; a map may decide anything. */
  private void unknown(String name, Expression expression) {
    switch (name) {
      case "log", "limit_log" -> {}
      case "meta" -> action = Optional.of(new Action.SetMark());
      case "lookup" -> action = Optional.of(new Action.Unknown("a map"));
      default -> unknown(expression.toString());
    }
  }
}
