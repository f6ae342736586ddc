package ipmasq.backend.nftables;

import ipmasq.hook.Action;
import ipmasq.hook.Condition;
import ipmasq.net.Family;
import ipmasq.net.IpRange;
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
  private final Map<Integer, Loaded> registers = new HashMap<>();
  private final List<Condition> conditions = new ArrayList<>();
  private Optional<Action> action = Optional.empty();
  private boolean never;

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
      case Payload payload -> registers.put(payload.register(), Loaded.of(payload, family));
      case Meta(var to, var key) -> registers.put(to, Loaded.of(key));
      case Fib fib -> registers.put(fib.register(), Loaded.of(fib));
      case Ct(var to, var _) -> registers.put(to, Loaded.OTHER);
      case Numgen numgen -> registers.put(numgen.register(), Loaded.OTHER);
      case Immediate(var to, var _) -> registers.put(to, Loaded.OTHER);
      case Byteorder order -> registers.put(order.to(), Loaded.OTHER);
      case Bitwise bitwise -> registers.put(bitwise.to(), held(bitwise.from()).masked(bitwise));
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

  private Loaded held(int register) {
    return registers.getOrDefault(register, Loaded.OTHER);
  }

  private void compare(int register, Cmp.Operator operator, Data data) {
    boolean equal = operator == Cmp.Operator.EQ;
    if (!equal && operator != Cmp.Operator.NEQ) {
      unknown("a comparison");
      return;
    }
    Loaded loaded = held(register);
    byte[] bytes = data.bytes();
    if (loaded.isFamily() && bytes.length == 1) {
      boolean ours = bytes[0] == (family == Family.IPV4 ? 2 : 10);
      never |= ours != equal;
      return;
    }
    add(loaded.is(bytes, family), "a match that is not known here", !equal);
  }

  private void range(InRange range) {
    byte[] first = range.first().bytes();
    byte[] last = range.last().bytes();
    add(held(range.register()).isBetween(first, last, family), "a range", range.outside());
  }

  private void lookup(int register, String set, boolean absent) {
    Loaded loaded = held(register);
    Optional<List<IpRange>> ranges = loaded.isAddress() ? sets.apply(set) : Optional.empty();
    add(ranges.flatMap(loaded::isIn), "set @" + set, absent);
  }

  /** What is not known stands there by its name. */
  private void add(Optional<Condition> condition, String otherwise, boolean negated) {
    conditions.add(condition.orElse(new Condition.Unknown(otherwise)).negatedIf(negated));
  }

  /** An SNAT to what the source already is binds the connection to it. */
  private Action nat(Nat nat) {
    return nat.kind() == Nat.Kind.SNAT
        ? nat.firstAddress() != 0 && held(nat.firstAddress()).isSource()
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
