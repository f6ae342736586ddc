package ipmasq.evidence.neighbours;

import ipmasq.evidence.neighbours.NftSets.Content;
import ipmasq.evidence.neighbours.NftSets.Entry;
import ipmasq.evidence.neighbours.Packets.Field;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.netlink.nftables.Compute.Bitwise;
import ipmasq.netlink.nftables.Compute.Byteorder;
import ipmasq.netlink.nftables.Compute.Immediate;
import ipmasq.netlink.nftables.Compute.Numgen;
import ipmasq.netlink.nftables.Expression;
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
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Reads any program's rule of nf_tables by following its registers: loads fill them, masks change
 * them, comparisons test them. What it does not know is never guessed: the rule may match.
 */
final class NftReader {
  private static final int NFTA_CT_SREG = 4;
  private static final int NFTA_PAYLOAD_SREG = 5;

  /** Targets of iptables that change nothing that matters here. */
  static final Set<String> HARMLESS =
      Set.of(
          "LOG",
          "NFLOG",
          "TRACE",
          "CLASSIFY",
          "TCPMSS",
          "DSCP",
          "TOS",
          "TTL",
          "HL",
          "CHECKSUM",
          "AUDIT",
          "IDLETIMER",
          "TCPOPTSTRIP",
          "CONNSECMARK",
          "SECMARK",
          "RATEEST",
          "TEE",
          "ECN");

  /** Targets that change addresses wherever they stand. */
  private static final Set<String> REWRITING = Set.of("SNPT", "DNPT", "NETMAP");

  static Step.Effect effect(String target) {
    return REWRITING.contains(target) ? Step.Effect.ADDRESSES : Step.Effect.VERDICT;
  }

  private final Kernel kernel;
  private final Family family;
  private final NftSets sets;

  NftReader(Kernel kernel, Family family, NftSets sets) {
    this.kernel = kernel;
    this.family = family;
    this.sets = sets;
  }

  /** What a register holds. */
  sealed interface Value {
    int length();
  }

  private record Constant(byte[] bytes) implements Value {
    @Override
    public int length() {
      return bytes.length;
    }
  }

  private record Opaque(String text) implements Value {
    @Override
    public int length() {
      return 0;
    }
  }

  /** What rules look at. */
  enum What {
    SOURCE,
    DESTINATION,
    PROTOCOL,
    PORT,
    SOURCE_PORT,
    MARK,
    OUT,
    IN,
    OUT_INDEX,
    IN_INDEX,
    FAMILY,
    ETHERTYPE,
    DESTINATION_TYPE,
    SOURCE_TYPE,
    CT_STATE,
    CT_STATUS,
    CT_DIRECTION,
    FRAGMENT;

    Optional<Field> field() {
      return switch (this) {
        case SOURCE -> Optional.of(Field.SOURCE);
        case DESTINATION -> Optional.of(Field.DESTINATION);
        case PROTOCOL -> Optional.of(Field.PROTOCOL);
        case PORT -> Optional.of(Field.PORT);
        case SOURCE_PORT -> Optional.of(Field.SOURCE_PORT);
        default -> Optional.empty();
      };
    }
  }

  /**
   * A part of the packet.
   *
   * @param mask the bits that were kept
   * @param xor the bits that were flipped after that
   */
  record Loaded(What what, int length, byte[] mask, byte[] xor) implements Value {
    Loaded(What what, int length) {
      this(what, length, filled(length, 0xff), new byte[length]);
    }

    boolean isPlain() {
      return Arrays.equals(mask, filled(length, 0xff)) && Arrays.equals(xor, new byte[length]);
    }

    /** Its bytes, if these packets have the same. */
    Optional<byte[]> bytes(Packets packets) {
      if (!isPlain()) {
        return Optional.empty();
      }
      if (what == What.OUT && packets.out().size() == 1) {
        return Optional.of(
            Arrays.copyOf(packets.out().getFirst().getBytes(StandardCharsets.UTF_8), length));
      }
      return what.field()
          .map(packets::get)
          .filter(Ranges::isSingle)
          .map(ranges -> Ranges.bytes(ranges.any(), length));
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Loaded it
          && what == it.what
          && length == it.length
          && Arrays.equals(mask, it.mask)
          && Arrays.equals(xor, it.xor);
    }

    @Override
    public int hashCode() {
      return what.hashCode() * 31 + length;
    }
  }

  private static byte[] filled(int length, int with) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) with);
    return bytes;
  }

  /** The rule, or one per element of a map in it; none if it never concerns this family. */
  List<Rule> read(ipmasq.netlink.nftables.Rule rule) {
    String comment = rule.comment().isEmpty() ? "" : ", comment \"" + rule.comment() + "\"";
    String shown = "nft -a list chain " + rule.family() + " " + rule.table() + " " + rule.chain();
    String text = "rule handle " + rule.handle() + comment + " (" + shown + ")";
    List<Rule> rules = new ArrayList<>();
    follow(rule.expressions(), new TreeMap<>(), List.of(), text, rules);
    return rules;
  }

  /** Follows the rest of a rule with its registers, by slots of four bytes. */
  private void follow(
      List<Expression> rest,
      Map<Integer, Value> registers,
      List<Step> before,
      String text,
      List<Rule> rules) {
    List<Step> steps = new ArrayList<>(before);
    for (int i = 0; i < rest.size(); i++) {
      if (rest.get(i) instanceof MapLookup lookup) {
        map(lookup, rest.subList(i + 1, rest.size()), registers, steps, text, rules);
        return;
      }
      step(rest.get(i), registers, steps);
      if (!steps.isEmpty() && steps.getLast().equals(new Step.Constant(false))) {
        return;
      }
    }
    rules.add(new Rule(steps, text));
  }

  private static int slot(int register) {
    return register >= 1 && register <= 4 ? (register - 1) * 4 : register - 8;
  }

  private static void load(Map<Integer, Value> registers, int register, Value value) {
    int slot = slot(register);
    int words = Math.max(1, (value.length() + 3) / 4);
    for (int i = 0; i < words; i++) {
      registers.remove(slot + i);
    }
    registers.put(slot, value);
  }

  private static Value held(Map<Integer, Value> registers, int register) {
    Value value = registers.get(slot(register));
    return value == null ? new Opaque("a register") : value;
  }

  private void step(Expression expression, Map<Integer, Value> registers, List<Step> steps) {
    switch (expression) {
      case Payload payload -> load(registers, payload.register(), loaded(payload));
      case Meta(var to, var key) -> load(registers, to, loaded(key));
      case Fib fib -> load(registers, fib.register(), loaded(fib));
      case Ct(var to, var key) ->
          load(
              registers,
              to,
              switch (key) {
                case STATE -> new Loaded(What.CT_STATE, 4);
                case STATUS -> new Loaded(What.CT_STATUS, 4);
                case DIRECTION -> new Loaded(What.CT_DIRECTION, 1);
                case MARK -> new Opaque("ct mark");
              });
      case Immediate(var to, var data) -> load(registers, to, new Constant(data.bytes()));
      case Bitwise bitwise ->
          load(registers, bitwise.to(), masked(held(registers, bitwise.from()), bitwise));
      case Numgen numgen -> load(registers, numgen.register(), new Opaque("numgen"));
      case Byteorder order -> load(registers, order.to(), new Opaque("byteorder"));
      case Cmp(var register, var operator, var data) ->
          steps.add(compared(held(registers, register), operator, data.bytes()));
      case InRange range -> {
        Value value = held(registers, range.register());
        Step.Test inside = between(value, range.first().bytes(), range.last().bytes());
        steps.add(range.outside() ? Step.not(inside) : inside);
      }
      case Lookup(var register, var set, var absent) -> {
        Step.Test inside = in(registers, register, set);
        steps.add(absent ? Step.not(inside) : inside);
      }
      case MapLookup _ -> throw new IllegalStateException("followed by itself");
      case SetMeta(var register, var key) -> {
        if (key == Meta.Key.MARK) {
          steps.add(setMark(held(registers, register)));
        }
      }
      case Counter _ -> {}
      case ObjectReference reference -> {
        if (!reference.isCounter()) {
          steps.add(new Step.Unjudged("an object of the table"));
        }
      }
      case Masquerade _ -> steps.add(new Step.Translate(true, Optional.empty()));
      case Nat nat -> steps.add(nat(nat, registers));
      case Verdict verdict -> Step.of(verdict).ifPresent(steps::add);
      case Xtables xtables -> xtables(xtables, steps);
      case Unknown unknown -> unknown(unknown, registers, steps);
    }
  }

  private Value loaded(Payload payload) {
    int offset = payload.offset();
    int length = payload.length();
    if (payload.base() == Payload.Base.TRANSPORT && length == 2 && (offset == 0 || offset == 2)) {
      return new Loaded(offset == 0 ? What.SOURCE_PORT : What.PORT, 2);
    }
    if (payload.base() == Payload.Base.NETWORK && length > 0) {
      boolean v4 = family == Family.IPV4;
      int source = v4 ? 12 : 8;
      if (offset == source && length <= family.bytes()) {
        return new Loaded(What.SOURCE, length);
      }
      if (offset == source + family.bytes() && length <= family.bytes()) {
        return new Loaded(What.DESTINATION, length);
      }
      if (offset == (v4 ? 9 : 6) && length == 1) {
        return new Loaded(What.PROTOCOL, 1);
      }
      if (v4 && offset == 6 && length == 2) {
        return new Loaded(What.FRAGMENT, 2);
      }
    }
    return new Opaque("bytes of the packet");
  }

  private static Value loaded(Meta.Key key) {
    return switch (key) {
      case NFPROTO -> new Loaded(What.FAMILY, 1);
      case PROTOCOL -> new Loaded(What.ETHERTYPE, 2);
      case L4PROTO -> new Loaded(What.PROTOCOL, 1);
      case MARK -> new Loaded(What.MARK, 4);
      case OIFNAME -> new Loaded(What.OUT, 16);
      case IIFNAME -> new Loaded(What.IN, 16);
      case OIF -> new Loaded(What.OUT_INDEX, 4);
      case IIF -> new Loaded(What.IN_INDEX, 4);
      default -> new Opaque("meta " + key.name().toLowerCase(Locale.ROOT));
    };
  }

  private static Value loaded(Fib fib) {
    if (fib.result() == Fib.Result.TYPE && fib.flags().equals(Set.of(Fib.Flag.DADDR))) {
      return new Loaded(What.DESTINATION_TYPE, 4);
    }
    return fib.result() == Fib.Result.TYPE && fib.flags().equals(Set.of(Fib.Flag.SADDR))
        ? new Loaded(What.SOURCE_TYPE, 4)
        : new Opaque("fib");
  }

  private static Value masked(Value value, Bitwise bitwise) {
    return value instanceof Loaded loaded
            && loaded.isPlain()
            && bitwise.mask().length() == loaded.length
        ? new Loaded(loaded.what, loaded.length, bitwise.mask().bytes(), bitwise.xor().bytes())
        : new Opaque("a changed value");
  }

  private Step.Test compared(Value value, Cmp.Operator operator, byte[] bytes) {
    byte[] least = filled(bytes.length, 0);
    byte[] most = filled(bytes.length, 0xff);
    return switch (operator) {
      case EQ -> is(value, bytes);
      case NEQ -> Step.not(is(value, bytes));
      case LT -> Step.not(between(value, bytes, most));
      case LTE -> between(value, least, bytes);
      case GT -> Step.not(between(value, least, bytes));
      case GTE -> between(value, bytes, most);
    };
  }

  /** That a value equals a constant. */
  private Step.Test is(Value value, byte[] bytes) {
    if (!(value instanceof Loaded loaded)) {
      return new Step.Unjudged(value instanceof Opaque(var text) ? text : "a constant");
    }
    return switch (loaded.what) {
      case SOURCE, DESTINATION, PROTOCOL, PORT, SOURCE_PORT -> prefix(loaded, bytes);
      case MARK ->
          bytes.length == 4
              ? new Step.Marked(number(bytes) ^ number(loaded.xor), number(loaded.mask), false)
              : unjudged(loaded);
      case CT_STATE -> bits(loaded, bytes, 8, 0xffff_ffffL); // NF_CT_STATE_BIT(IP_CT_NEW)
      case CT_STATUS -> bits(loaded, bytes, 0, 0x3f); // IPS_EXPECTED to IPS_DST_NAT
      case FRAGMENT -> bits(loaded, bytes, 0, 0x1fff); // IP_OFFSET: tracking joins fragments
      default -> loaded.isPlain() ? plain(loaded, bytes) : unjudged(loaded);
    };
  }

  private Step.Test plain(Loaded loaded, byte[] bytes) {
    return switch (loaded.what) {
      case OUT -> new Step.Link(true, List.of(name(bytes)), false);
      case IN -> new Step.Link(false, List.of(name(bytes)), false);
      case OUT_INDEX, IN_INDEX ->
          kernel
              .interfaceName((int) number(bytes))
              .<Step.Test>map(
                  name -> new Step.Link(loaded.what == What.OUT_INDEX, List.of(name), false))
              .orElse(unjudged(loaded));
      case FAMILY -> new Step.Constant(bytes[0] == (family == Family.IPV4 ? 2 : 10));
      case ETHERTYPE ->
          new Step.Constant(
              Arrays.equals(
                  bytes,
                  family == Family.IPV4
                      ? new byte[] {8, 0}
                      : new byte[] {(byte) 0x86, (byte) 0xdd}));
      case CT_DIRECTION -> new Step.Tracked(bytes[0] == 0, "ct direction");
      case DESTINATION_TYPE ->
          number(bytes) == 2 ? new Step.Local(false, false) : unjudged(loaded); // RTN_LOCAL
      case SOURCE_TYPE -> number(bytes) == 2 ? new Step.Local(true, false) : unjudged(loaded);
      default -> unjudged(loaded);
    };
  }

  private static Step.Test unjudged(Loaded loaded) {
    return new Step.Unjudged(loaded.what.name().toLowerCase(Locale.ROOT).replace('_', ' '));
  }

  /** An address with a prefix, or the beginning of one: nft loads only the bytes it needs. */
  private Step.Test prefix(Loaded loaded, byte[] bytes) {
    Field field = loaded.what.field().orElseThrow();
    boolean ended = false;
    byte[] last = bytes.clone();
    for (int i = 0; i < bytes.length * 8 && bytes.length == loaded.length; i++) {
      boolean kept = (loaded.mask[i / 8] >> 7 - i % 8 & 1) == 1;
      boolean one = (bytes[i / 8] >> 7 - i % 8 & 1) == 1;
      if (kept && ended) {
        return unjudged(loaded); // a mask with holes
      }
      if (!kept && one) {
        return new Step.Constant(false);
      }
      ended |= !kept;
      last[i / 8] |= (byte) (kept ? 0 : 1 << 7 - i % 8);
    }
    if (bytes.length != loaded.length || !Arrays.equals(loaded.xor, new byte[loaded.length])) {
      return unjudged(loaded);
    }
    return new Step.Is(field, padded(field, bytes, last), false);
  }

  private Ranges padded(Field field, byte[] first, byte[] last) {
    int length =
        field == Field.SOURCE || field == Field.DESTINATION ? family.bytes() : first.length;
    byte[] end = filled(length, 0xff);
    System.arraycopy(last, 0, end, 0, last.length);
    return Ranges.of(Arrays.copyOf(first, length), end);
  }

  /** A number of which some bits are known, once the packet is tracked. */
  private static Step.Test bits(Loaded loaded, byte[] bytes, long value, long known) {
    if (bytes.length != loaded.length) {
      return unjudged(loaded);
    }
    long kept = number(loaded.mask);
    long expected = number(bytes) ^ number(loaded.xor);
    if (((value ^ expected) & known & kept) != 0 || (expected & ~kept) != 0) {
      return new Step.Tracked(false, "ct");
    }
    return (kept & ~known) == 0 ? new Step.Tracked(true, "ct") : unjudged(loaded);
  }

  /** That a value lies in a range, ends included. */
  private Step.Test between(Value value, byte[] first, byte[] last) {
    if (Arrays.equals(first, last)) {
      return is(value, first);
    }
    if (!(value instanceof Loaded loaded)
        || !loaded.isPlain()
        || loaded.what.field().isEmpty()
        || first.length != loaded.length) {
      return value instanceof Loaded it ? unjudged(it) : is(value, first);
    }
    Field field = loaded.what.field().get();
    return new Step.Is(field, padded(field, first, last), false);
  }

  /** Two bytes are of the packet, in network order; four the kernel's own, in host order. */
  static long number(byte[] bytes) {
    return switch (bytes.length) {
      case 2 -> ByteBuffer.wrap(bytes).getShort() & 0xffff;
      case 4 -> ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).getInt() & 0xffff_ffffL;
      default -> -1;
    };
  }

  /** A name, or a prefix of one if the kernel compares fewer bytes. */
  private static String name(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    int end = text.indexOf('\0');
    return end < 0 ? text + "+" : text.substring(0, end);
  }

  /** The parts of the packet that form a key; empty if one is not known. */
  private static List<Loaded> key(Map<Integer, Value> registers, int register, int length) {
    List<Loaded> parts = new ArrayList<>();
    int slot = slot(register);
    int left = length;
    while (left > 0) {
      if (!(registers.get(slot) instanceof Loaded part) || part.length > left) {
        return List.of();
      }
      parts.add(part);
      int words = (part.length + 3) / 4;
      slot += words;
      left -= left == part.length ? left : words * 4;
    }
    return parts.size() == 1 && parts.getFirst().length != length ? List.of() : parts;
  }

  private Step.Test in(Map<Integer, Value> registers, int register, String set) {
    return switch (sets.content(set)) {
      case Content.Unreadable() -> new Step.Unjudged("set @" + set);
      case Content.Large(var large) -> {
        List<Loaded> parts = key(registers, register, large.key().length());
        yield parts.isEmpty()
            ? new Step.Unjudged("set @" + set)
            : new Step.Member(new NftSets.InKernel(kernel, large, parts), false);
      }
      case Content.All(var entries) -> in(registers, register, set, entries);
    };
  }

  private Step.Test in(
      Map<Integer, Value> registers, int register, String set, List<Entry> entries) {
    if (entries.isEmpty()) {
      return new Step.Constant(false);
    }
    if (entries.stream().anyMatch(Entry::isForOthers)) {
      return new Step.Constant(true);
    }
    List<Loaded> parts = key(registers, register, entries.getFirst().first().length);
    if (parts.isEmpty()) {
      return new Step.Unjudged("set @" + set);
    }
    Optional<Field> field = parts.getFirst().what.field();
    if (parts.size() == 1 && field.isPresent() && parts.getFirst().isPlain()) {
      List<Ranges.Range> all = new ArrayList<>(entries.size());
      entries.forEach(e -> all.addAll(padded(field.get(), e.first(), e.last()).list()));
      return new Step.Is(field.get(), Ranges.union(all), false);
    }
    List<List<Step.Test>> alternatives = entries.stream().map(e -> is(parts, e)).toList();
    return new Step.AnyOf(alternatives, false, "@" + set);
  }

  /** That the parts are those of an element. */
  private List<Step.Test> is(List<Loaded> parts, Entry entry) {
    List<Step.Test> all = new ArrayList<>();
    int at = 0;
    for (Loaded part : parts) {
      int end = Math.min(at + part.length, entry.first().length);
      all.add(
          between(
              part,
              Arrays.copyOfRange(entry.first(), at, end),
              Arrays.copyOfRange(entry.last(), at, end)));
      at += (part.length + 3) / 4 * 4;
    }
    return all;
  }

  /** Goes on with each element of a map. */
  private void map(
      MapLookup lookup,
      List<Expression> rest,
      Map<Integer, Value> registers,
      List<Step> steps,
      String text,
      List<Rule> rules) {
    Content content = sets.content(lookup.map());
    int length =
        switch (content) {
          case Content.All(var entries) ->
              entries.isEmpty() ? 0 : entries.getFirst().first().length;
          case Content.Large(var set) -> set.key().length();
          case Content.Unreadable() -> 0;
        };
    List<Loaded> parts = key(registers, lookup.register(), length);
    boolean ofMark = parts.stream().anyMatch(part -> part.what == What.MARK);
    if (content instanceof Content.All(var entries)
        && !ofMark
        && (!parts.isEmpty() || length == 0)) {
      List<List<Step.Test>> keys =
          entries.stream().filter(e -> !e.isForOthers()).map(e -> is(parts, e)).toList();
      for (Entry entry : entries) {
        List<Step> found = new ArrayList<>(steps);
        found.addAll(
            entry.isForOthers()
                ? List.of(new Step.AnyOf(keys, true, "@" + lookup.map()))
                : is(parts, entry));
        if (!found.contains(new Step.Constant(false))) {
          mapped(lookup, entry, rest, registers, found, text, rules);
        }
      }
      return;
    }
    if (!lookup.isVerdict()) {
      steps.add(new Step.Unjudged("map @" + lookup.map()));
      Map<Integer, Value> changed = new TreeMap<>(registers);
      load(changed, lookup.to(), new Opaque("map @" + lookup.map()));
      follow(rest, changed, steps, text, rules);
    } else {
      steps.add(
          content instanceof Content.Large(var set) && !parts.isEmpty() && !ofMark
              ? new Step.Ask(new NftSets.InKernel(kernel, set, parts))
              : new Step.Unknown("map @" + lookup.map(), Step.Effect.PATH));
      rules.add(new Rule(steps, text));
    }
  }

  private void mapped(
      MapLookup lookup,
      Entry entry,
      List<Expression> rest,
      Map<Integer, Value> registers,
      List<Step> steps,
      String text,
      List<Rule> rules) {
    if (lookup.isVerdict()) {
      entry.element().verdict().flatMap(Step::of).ifPresent(steps::add);
      rules.add(new Rule(steps, text));
      return;
    }
    Map<Integer, Value> changed = new TreeMap<>(registers);
    byte[] data = entry.element().data().map(d -> d.bytes()).orElse(new byte[0]);
    int bytes = family.bytes();
    load(changed, lookup.to(), new Constant(data));
    if (data.length == 2 * bytes) { // a range of addresses
      int next = 8 + slot(lookup.to()) + bytes / 4;
      load(changed, lookup.to(), new Constant(Arrays.copyOf(data, bytes)));
      load(changed, next, new Constant(Arrays.copyOfRange(data, bytes, 2 * bytes)));
    }
    follow(rest, changed, steps, text, rules);
  }

  private static Step setMark(Value value) {
    if (value instanceof Loaded loaded && loaded.what == What.MARK) {
      return new Step.SetMark(number(loaded.mask), number(loaded.xor), 0);
    }
    return value instanceof Constant(var bytes) && bytes.length == 4
        ? new Step.SetMark(0, number(bytes), 0)
        : Step.SetMark.ANY;
  }

  /** An SNAT to what the source already is binds the connection to it. */
  private Step nat(Nat nat, Map<Integer, Value> registers) {
    if (nat.kind() != Nat.Kind.SNAT) {
      return new Step.Redirect();
    }
    if (nat.firstAddress() == 0) {
      return new Step.Keep(); // it gets another port at most
    }
    Value first = held(registers, nat.firstAddress());
    Value last = held(registers, nat.lastAddress());
    if (first.equals(new Loaded(What.SOURCE, family.bytes())) && first.equals(last)) {
      return new Step.Keep();
    }
    return first instanceof Constant(var from)
            && last instanceof Constant(var to)
            && from.length == family.bytes()
            && to.length == family.bytes()
            && Ip.ofBytes(from).compareTo(Ip.ofBytes(to)) <= 0
        ? new Step.Translate(false, Optional.of(new IpRange(Ip.ofBytes(from), Ip.ofBytes(to))))
        : new Step.Unknown("snat", Step.Effect.ADDRESSES);
  }

  /** What iptables-nft left, where iptables itself does not list it. */
  private static void xtables(Xtables xtables, List<Step> steps) {
    String name = xtables.name();
    if (xtables.kind() == Xtables.XtKind.MATCH) {
      if (!name.equals("comment")) {
        steps.add(new Step.Unjudged("-m " + name));
      }
    } else if (name.equals("MARK") && xtables.revision() == 2 && xtables.info().length() >= 8) {
      byte[] info = xtables.info().bytes();
      long mask = number(Arrays.copyOfRange(info, 4, 8));
      steps.add(new Step.SetMark(~mask & 0xffff_ffffL, number(Arrays.copyOfRange(info, 0, 4)), 0));
    } else if (name.endsWith("MARK")) {
      steps.add(Step.SetMark.ANY);
    } else if (name.equals("MASQUERADE")) {
      steps.add(new Step.Translate(true, Optional.empty()));
    } else if (name.equals("DNAT") || name.equals("REDIRECT")) {
      steps.add(new Step.Redirect());
    } else if (!HARMLESS.contains(name)) {
      steps.add(new Step.Unknown("-j " + name, effect(name)));
    }
  }

  /** Expressions that neither match nor decide are skipped; any other is not judged. */
  private static void unknown(Unknown unknown, Map<Integer, Value> registers, List<Step> steps) {
    switch (unknown.name()) {
      case "log", "last", "dup" -> {}
      case "notrack" -> steps.add(new Step.Untrack());
      case "redir", "tproxy" -> steps.add(new Step.Redirect());
      case "nat", "masq" -> steps.add(new Step.Unknown(unknown.name(), Step.Effect.ADDRESSES));
      case "queue", "reject", "synproxy", "fwd", "immediate" ->
          steps.add(new Step.Unknown(unknown.name(), Step.Effect.VERDICT));
      case "ct" -> {
        if (!unknown.has(NFTA_CT_SREG)) { // a change of the connection's own data matches all
          registers.clear();
          steps.add(new Step.Unjudged("ct"));
        }
      }
      case "payload" -> {
        if (unknown.has(NFTA_PAYLOAD_SREG)) {
          steps.add(new Step.Unknown("a change of the packet itself", Step.Effect.ADDRESSES));
        } else {
          registers.clear();
          steps.add(new Step.Unjudged("bytes of the packet"));
        }
      }
      default -> {
        registers.clear();
        steps.add(new Step.Unjudged(unknown.name()));
      }
    }
  }
}
