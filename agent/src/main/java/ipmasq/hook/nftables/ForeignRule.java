package ipmasq.hook.nftables;

import ipmasq.hook.Action;
import ipmasq.hook.Condition;
import ipmasq.hook.SetKey;
import ipmasq.hook.ipset.ForeignIpsets;
import ipmasq.hook.nftables.ForeignSets.Elements;
import ipmasq.hook.nftables.ForeignSets.Entry;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.netlink.nftables.Bitwise;
import ipmasq.netlink.nftables.Byteorder;
import ipmasq.netlink.nftables.Cmp;
import ipmasq.netlink.nftables.Counter;
import ipmasq.netlink.nftables.Ct;
import ipmasq.netlink.nftables.Expression;
import ipmasq.netlink.nftables.Fib;
import ipmasq.netlink.nftables.Immediate;
import ipmasq.netlink.nftables.InRange;
import ipmasq.netlink.nftables.Lookup;
import ipmasq.netlink.nftables.MapLookup;
import ipmasq.netlink.nftables.Masquerade;
import ipmasq.netlink.nftables.Meta;
import ipmasq.netlink.nftables.Nat;
import ipmasq.netlink.nftables.Numgen;
import ipmasq.netlink.nftables.ObjectReference;
import ipmasq.netlink.nftables.Payload;
import ipmasq.netlink.nftables.Rule;
import ipmasq.netlink.nftables.SetMeta;
import ipmasq.netlink.nftables.Unknown;
import ipmasq.netlink.nftables.Verdict;
import ipmasq.netlink.nftables.Xtables;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Reads any program's rule of nf_tables by following its registers: loads fill them, masks change
 * them, comparisons test them. Unknown expressions are never guessed: after one, all registers are
 * unknown and the rule may match.
 */
final class ForeignRule {
  private static final int LONGEST_TEXT = 300;
  private static final int NFTA_CT_SREG = 4;
  private static final int NFTA_PAYLOAD_SREG = 5;

  private final Family family;
  private final Function<String, Elements> sets;
  private final ForeignIpsets ipsets;
  private final Registers registers = new Registers();
  private final SetMatch elements;
  private final List<Condition> conditions = new ArrayList<>();
  private Optional<Action> action = Optional.empty();
  private Optional<Action.SetMark> mark = Optional.empty();
  private int beforeMark; // how many conditions stand before the mark is set
  private boolean marksTwice;
  private boolean untracks;
  private boolean natFromMap;
  private boolean natToRange;
  private Optional<Mapping> mapping = Optional.empty();

  /** A map that is expanded to one rule per element. */
  private record Mapping(List<RegisterContent> fields, List<Entry> entries, int to) {}

  private ForeignRule(Family family, Function<String, Elements> sets, ForeignIpsets ipsets) {
    this.family = family;
    this.sets = sets;
    this.ipsets = ipsets;
    this.elements = new SetMatch(registers, family);
  }

  /** Whether iptables-nft wrote it: it has a match or target that only iptables knows. */
  static boolean isOfIptables(Rule rule) {
    return rule.expressions().stream().anyMatch(Xtables.class::isInstance);
  }

  /**
   * The rule, or one per element of a map in it; none if it never concerns this family.
   *
   * @param asIptables whether to print it as iptables would
   */
  static List<ipmasq.hook.Rule> read(
      Rule rule,
      Family family,
      Function<String, Elements> sets,
      ForeignIpsets ipsets,
      boolean asIptables) {
    ForeignRule reader = new ForeignRule(family, sets, ipsets);
    for (Expression expression : rule.expressions()) {
      reader.step(expression);
    }
    if (reader.conditions.contains(Condition.AnyOf.NEVER)) {
      return List.of();
    }
    reader.conditions.removeIf(Condition.AnyOf.ALWAYS::equals);
    String text = asIptables ? IptablesText.of(rule, family, ipsets) : rule.toString();
    return reader.rules(
        text.length() > LONGEST_TEXT ? text.substring(0, LONGEST_TEXT) + "…" : text);
  }

  /** Whether it may match, judged by the rule alone: sets are not read. */
  static boolean mayConcern(Rule rule, Ip destination) {
    ForeignRule reader =
        new ForeignRule(
            destination.family(), _ -> new Elements.Unreadable(), ForeignIpsets.unread());
    for (Expression expression : rule.expressions()) {
      reader.step(expression);
    }
    return reader.conditions.stream().allMatch(condition -> condition.mayConcern(destination));
  }

  private void setMark(Action.SetMark set) {
    if (mark.isEmpty()) {
      beforeMark = conditions.size();
    }
    marksTwice |= mark.isPresent();
    mark = Optional.of(set);
  }

  private List<ipmasq.hook.Rule> rules(String text) {
    if (mark.isPresent() && (marksTwice || beforeMark < conditions.size())) {
      // It marks packets whether or not the conditions after that hold.
      List<Condition> before = List.copyOf(conditions.subList(0, beforeMark));
      boolean asked = before.stream().anyMatch(condition -> condition.askedBits() != 0);
      Action.SetMark set = asked || marksTwice ? Action.SetMark.UNKNOWN : mark.get();
      mark = Optional.empty();
      List<ipmasq.hook.Rule> both = new ArrayList<>(List.of(rule(before, set, text)));
      both.addAll(rules(text));
      return both;
    }
    if (untracks) {
      untracks = false;
      List<ipmasq.hook.Rule> both = new ArrayList<>();
      both.add(new ipmasq.hook.Rule(conditions, new Action.Untrack(), text));
      both.addAll(rules(text));
      return both;
    }
    if (mapping.isEmpty()) {
      return List.of(rule(conditions, action.orElse(new Action.NoAction()), text));
    }
    List<ipmasq.hook.Rule> rules = new ArrayList<>();
    for (Entry entry : mapping.get().entries) {
      List<Condition> all = new ArrayList<>(conditions);
      all.addAll(
          entry.keys().isPresent()
              ? elements.is(mapping.get().fields, entry)
              : other(mapping.get()));
      if (!all.contains(Condition.AnyOf.NEVER)) {
        all.removeIf(Condition.AnyOf.ALWAYS::equals);
        rules.add(rule(all, mapped(entry), text));
      }
    }
    return rules;
  }

  /** The condition of the element for all keys without one of their own. */
  private List<Condition> other(Mapping map) {
    List<List<Condition>> keys = new ArrayList<>();
    for (Entry entry : map.entries) {
      if (entry.keys().isPresent()) {
        keys.add(elements.is(map.fields, entry));
      }
    }
    keys.removeIf(all -> all.contains(Condition.AnyOf.NEVER));
    return keys.isEmpty()
        ? List.of()
        : List.of(new Condition.Not(new Condition.AnyOf(keys, "the other keys of the map")));
  }

  private ipmasq.hook.Rule rule(List<Condition> all, Action then, String text) {
    Action both =
        mark.isEmpty()
            ? then
            : then instanceof Action.NoAction ? mark.get() : new Action.MarkAnd(mark.get(), then);
    return new ipmasq.hook.Rule(all, both, text);
  }

  /** The rule for one element of the map. */
  private Action mapped(Entry entry) {
    if (entry.verdict().isPresent()) {
      return verdict(entry.verdict().get());
    }
    if (action.isEmpty() || !natFromMap) {
      return action.orElse(new Action.NoAction());
    }
    byte[] data = entry.data().map(d -> d.bytes()).orElse(new byte[0]);
    int length = family.bytes();
    if (data.length != length * (natToRange ? 2 : 1)) {
      return new Action.Translate("snat");
    }
    IpRange to = one(Arrays.copyOf(data, length));
    return new Action.Translate(
        "snat",
        Optional.of(
            natToRange
                ? new IpRange(to.first(), Ip.ofBytes(Arrays.copyOfRange(data, length, 2 * length)))
                : to));
  }

  private static IpRange one(byte[] address) {
    Ip ip = Ip.ofBytes(address);
    return new IpRange(ip, ip);
  }

  private void step(Expression expression) {
    switch (expression) {
      case Payload payload ->
          registers.load(payload.register(), RegisterContent.of(payload, family));
      case Meta(var to, var key) -> registers.load(to, RegisterContent.of(key));
      case Fib fib -> registers.load(fib.register(), RegisterContent.of(fib));
      case Ct(var to, var key) -> registers.load(to, RegisterContent.of(key));
      case Immediate(var to, var data) -> registers.load(to, RegisterContent.constant(data));
      case Bitwise bitwise ->
          registers.load(bitwise.to(), registers.held(bitwise.from()).masked(bitwise));
      case Numgen numgen -> registers.load(numgen.register(), RegisterContent.unknown("numgen"));
      case Byteorder order ->
          registers.load(order.to(), RegisterContent.unknown(registers.held(order.from()).text()));
      case Cmp(var register, var operator, var data) ->
          conditions.add(registers.held(register).compared(operator, data.bytes(), family));
      case InRange range -> {
        Condition inside =
            registers
                .held(range.register())
                .between(range.first().bytes(), range.last().bytes(), family);
        conditions.add(range.outside() ? RegisterContent.not(inside) : inside);
      }
      case Lookup(var register, var set, var absent) -> {
        Condition inside = elements.in(register, set, sets.apply(set));
        conditions.add(absent ? RegisterContent.not(inside) : inside);
      }
      case MapLookup lookup -> map(lookup);
      case SetMeta(var register, var key) -> {
        if (key == Meta.MetaKey.MARK) {
          setMark(mark(registers.held(register)));
        }
      }
      case Counter _ -> {}
      case ObjectReference reference -> {
        if (!reference.isCounter()) {
          conditions.add(new Condition.UnknownCondition(reference.toString()));
        }
      }
      case Masquerade _ -> decide(new Action.Translate("masquerade"));
      case Nat nat -> decide(nat(nat));
      case Verdict verdict -> decide(verdict(verdict));
      case Xtables xtables -> xtables(xtables);
      case Unknown unknown -> unknown(unknown);
    }
  }

  private void decide(Action then) {
    if (action.isEmpty()) {
      action = Optional.of(then);
    }
  }

  private void map(MapLookup lookup) {
    Elements content = sets.apply(lookup.map());
    if (content instanceof Elements.AllElements(var entries, var _) && mapping.isEmpty()) {
      int length = SetMatch.keyLength(entries);
      List<RegisterContent> fields = registers.fields(lookup.register(), length);
      if (!fields.isEmpty() || length == 0) {
        mapping = Optional.of(new Mapping(fields, inOrder(entries), lookup.to()));
        registers.load(lookup.to(), RegisterContent.unknown("map @" + lookup.map()));
        return;
      }
    }
    if (content instanceof Elements.Long(var set, var length) && lookup.isVerdict()) {
      List<SetKey> keys = registers.keys(lookup.register(), length, family);
      if (!keys.isEmpty()) {
        decide(new Action.Ask(keys, set));
        return;
      }
    }
    registers.load(lookup.to(), RegisterContent.unknown("map @" + lookup.map()));
    if (lookup.isVerdict()) {
      decide(new Action.UnknownAction("vmap @" + lookup.map()));
    } else {
      conditions.add(new Condition.UnknownCondition("map @" + lookup.map()));
    }
  }

  /** The element for all other keys comes last. */
  private static List<Entry> inOrder(List<Entry> entries) {
    List<Entry> sorted = new ArrayList<>(entries);
    sorted.sort((a, b) -> Boolean.compare(a.keys().isEmpty(), b.keys().isEmpty()));
    return sorted;
  }

  private static Action.SetMark mark(RegisterContent content) {
    if (content.ofMark().isPresent()) {
      long[] kept = content.ofMark().get();
      return new Action.SetMark(kept[0], kept[1]);
    }
    Optional<byte[]> constant = content.constant().filter(bytes -> bytes.length == 4);
    return constant.isPresent()
        ? new Action.SetMark(0, RegisterContent.number(constant.get()))
        : Action.SetMark.UNKNOWN;
  }

  /** An SNAT to what the source already is binds the connection to it. */
  private Action nat(Nat nat) {
    if (nat.kind() != Nat.NatKind.SNAT) {
      return new Action.ChangeDestination("dnat");
    }
    if (nat.firstAddress() == 0) {
      return new Action.Keep(); // it gets another port at most
    }
    RegisterContent first = registers.held(nat.firstAddress());
    RegisterContent last = registers.held(nat.lastAddress());
    if (first.isSource(family) && nat.firstAddress() == nat.lastAddress()) {
      return new Action.Keep();
    }
    Optional<byte[]> from = first.constant().filter(bytes -> bytes.length == family.bytes());
    Optional<byte[]> to = last.constant().filter(bytes -> bytes.length == family.bytes());
    if (from.isPresent() && to.isPresent()) {
      return new Action.Translate(
          "snat", Optional.of(new IpRange(Ip.ofBytes(from.get()), Ip.ofBytes(to.get()))));
    }
    // The elements of an expanded map give the target; otherwise it may be any.
    natFromMap = mapping.isPresent() && mapping.get().to == nat.firstAddress();
    natToRange = nat.lastAddress() != nat.firstAddress();
    return natFromMap
        ? new Action.Translate("snat")
        : new Action.UnknownAction("snat to " + first.text());
  }

  static Action verdict(Verdict verdict) {
    return switch (verdict.code()) {
      case DROP -> new Action.Drop();
      case ACCEPT -> new Action.Accept();
      case CONTINUE -> new Action.NoAction();
      case JUMP -> new Action.Jump(verdict.chain());
      case GOTO -> new Action.Goto(verdict.chain());
      case RETURN -> new Action.Return();
    };
  }

  private void xtables(Xtables xtables) {
    switch (xtables.kind()) {
      case MATCH -> {
        if (!xtables.name().equals("comment")) {
          conditions.addAll(XtDecoder.match(xtables, family, ipsets).conditions());
        }
      }
      case TARGET -> {
        Action target = XtTarget.of(xtables, family).action();
        XtSet.fill(xtables, ipsets);
        if (target instanceof Action.SetMark set) {
          setMark(set);
        } else {
          decide(target);
        }
      }
    }
  }

  /** Expressions that neither match nor decide are skipped; any other makes the rule unknown. */
  private void unknown(Unknown unknown) {
    switch (unknown.name()) {
      case "log", "last", "dup" -> {}
      case "notrack" -> untracks = true;
      case "redir", "tproxy" -> decide(new Action.ChangeDestination(unknown.name()));
      case "queue", "reject", "synproxy", "fwd", "nat", "masq", "immediate" ->
          decide(new Action.UnknownAction(unknown.name()));
      case "ct" -> {
        if (!unknown.has(NFTA_CT_SREG)) { // a change of the connection's own data matches all
          unknownMatch(unknown);
        }
      }
      case "payload" -> {
        if (unknown.has(NFTA_PAYLOAD_SREG)) {
          decide(new Action.UnknownAction("a change of the packet itself"));
        } else {
          unknownMatch(unknown);
        }
      }
      default -> unknownMatch(unknown);
    }
  }

  private void unknownMatch(Unknown unknown) {
    registers.forget();
    conditions.add(new Condition.UnknownCondition(unknown.name()));
  }
}
