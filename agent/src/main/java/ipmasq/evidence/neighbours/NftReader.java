package ipmasq.evidence.neighbours;

import ipmasq.evidence.neighbours.Cell.Field;
import ipmasq.evidence.neighbours.NftSets.Content;
import ipmasq.evidence.neighbours.NftSets.Entry;
import ipmasq.evidence.neighbours.Rule.Jumps;
import ipmasq.evidence.neighbours.Rule.Place;
import ipmasq.evidence.neighbours.Step.Choice;
import ipmasq.evidence.neighbours.Step.Test;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.netlink.Data;
import ipmasq.netlink.nftables.Compute;
import ipmasq.netlink.nftables.Element;
import ipmasq.netlink.nftables.Expression;
import ipmasq.netlink.nftables.Expression.Unknown;
import ipmasq.netlink.nftables.Expression.Xtables;
import ipmasq.netlink.nftables.Load;
import ipmasq.netlink.nftables.Match;
import ipmasq.netlink.nftables.NftSet;
import ipmasq.netlink.nftables.Statement;
import java.math.BigInteger;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads any program's rule of nf_tables by following its registers: loads fill them, masks change
 * them, comparisons test them. What it does not know is never guessed: the rule may match. Used for
 * one reading of one chain.
 */
final class NftReader {
  private static final int NFTA_CT_SREG = 4;
  private static final int NFTA_PAYLOAD_SREG = 5;
  private static final int RTN_LOCAL = 2;
  private static final int NFT_REG_SIZE = 16;

  private final Kernel kernel;
  private final Family family;
  private final NftSets sets;
  private final Place place;
  private final Links links;
  private final Jumps jumps;

  // Of the rule that is read.
  private final TreeMap<Integer, Value> registers = new TreeMap<>(); // by slots of four bytes
  private List<Step> steps = new ArrayList<>();

  NftReader(Kernel kernel, Family family, NftSets sets, Place place, Links links, Jumps jumps) {
    this.kernel = kernel;
    this.family = family;
    this.sets = sets;
    this.place = place;
    this.links = links;
    this.jumps = jumps;
  }

  /** What a register holds; nothing, if it is not known. */
  private sealed interface Value {
    int length();
  }

  private record Constant(Data data) implements Value {
    @Override
    public int length() {
      return data.length();
    }
  }

  /** How a part of the packet is to be taken. */
  private enum Form {
    /** A number in network order; all others are in the order of the host. */
    PLAIN,
    /** An interface by its name, or by its number in the kernel. */
    NAME,
    INDEX,
    /** Whether an address is one of the node. */
    TYPE,
    MARK,
    /** {@code meta nfproto}. */
    FAMILY,
    CT_STATE,
    CT_STATUS
  }

  /**
   * A part of the packet.
   *
   * @param field for the first forms
   * @param mask the bits that were kept
   * @param xor the bits that were flipped after that
   */
  private record Part(Form form, Field field, int length, BigInteger mask, BigInteger xor)
      implements Value {
    Part(Form form, Field field, int length) {
      this(form, field, length, ones(length * 8), BigInteger.ZERO);
    }

    boolean isWhole() {
      return mask.equals(ones(length * 8)) && xor.signum() == 0;
    }

    BigInteger number(Data data) {
      byte[] bytes = data.bytes();
      boolean reversed = form != Form.PLAIN && ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
      for (int i = 0; reversed && i < bytes.length / 2; i++) {
        byte other = bytes[bytes.length - 1 - i];
        bytes[bytes.length - 1 - i] = bytes[i];
        bytes[i] = other;
      }
      return new BigInteger(1, bytes);
    }
  }

  private static final Part MARK = new Part(Form.MARK, Field.TO_NODE, 4);

  private static BigInteger ones(int bits) {
    return BigInteger.ONE.shiftLeft(bits).subtract(BigInteger.ONE);
  }

  Rule read(ipmasq.netlink.nftables.Rule rule) {
    registers.clear();
    steps = new ArrayList<>();
    rule.expressions().forEach(this::read);
    String comment = rule.comment().isEmpty() ? "" : ", comment \"" + rule.comment() + "\"";
    String shown = "nft -a list chain " + rule.family() + " " + rule.table() + " " + rule.chain();
    return new Rule(steps, "rule handle " + rule.handle() + comment + " (" + shown + ")");
  }

  private void read(Expression expression) {
    switch (expression) {
      case Load.Payload it -> load(it.register(), it.length(), part(it));
      case Load.Meta(var to, var key) -> load(to, NFT_REG_SIZE, part(key));
      case Load.Fib it -> load(it.register(), NFT_REG_SIZE, part(it));
      case Load.Ct(var to, var key) -> load(to, NFT_REG_SIZE, part(key));
      case Compute.Immediate(var to, var data) -> load(to, data.length(), new Constant(data));
      case Compute.Bitwise it -> load(it.to(), it.mask().length(), masked(it));
      case Compute.Numgen it -> load(it.register(), 4, null);
      case Compute.Byteorder it -> load(it.to(), it.length(), null);
      case Match.Cmp(var register, var operator, var data) -> {
        Data least = Data.of(new byte[data.length()]);
        byte[] most = new byte[data.length()];
        Arrays.fill(most, (byte) 0xff);
        Value value = held(register);
        steps.add(
            switch (operator) {
              case EQ -> between(value, data, data);
              case NEQ -> between(value, data, data).not();
              case LT -> between(value, data, Data.of(most)).not();
              case LTE -> between(value, least, data);
              case GT -> between(value, least, data).not();
              case GTE -> between(value, data, Data.of(most));
            });
      }
      case Match.InRange it ->
          steps.add(between(held(it.register()), it.first(), it.last()).negatedIf(it.outside()));
      case Match.Lookup(var register, var set, var absent) ->
          steps.add(isIn(register, set).negatedIf(absent));
      case Load.MapLookup it -> map(it);
      case Statement.SetMeta(var register, var key) -> {
        if (key == Load.Meta.Key.MARK) {
          steps.add(setMark(held(register)));
        }
      }
      case Statement.Counter _ -> {}
      case Statement.ObjectReference object -> {
        if (!object.isCounter()) {
          steps.add(Test.UNJUDGED);
        }
      }
      case Statement.Masquerade _ -> steps.add(new Step.Translate(true, Optional.empty()));
      case Statement.Nat nat -> steps.add(nat(nat));
      case Statement.Verdict verdict -> step(verdict).ifPresent(steps::add);
      case Xtables xtables -> xtables(xtables);
      case Unknown unknown -> unknown(unknown);
    }
  }

  private static int slot(int register) {
    return register >= 1 && register <= 4 ? (register - 1) * 4 : register - 8;
  }

  /** Fills a register; whatever it overlaps is gone. */
  private void load(int register, int length, @Nullable Value value) {
    int slot = slot(register);
    int bytes = value == null ? length : value.length();
    registers
        .entrySet()
        .removeIf(
            it ->
                it.getKey() * 4 < slot * 4 + bytes
                    && slot * 4 < it.getKey() * 4 + it.getValue().length());
    if (value != null) {
      registers.put(slot, value);
    }
  }

  private @Nullable Value held(int register) {
    return registers.get(slot(register));
  }

  private @Nullable Part part(Load.Payload payload) {
    int length = payload.length();
    int offset = payload.offset();
    boolean v4 = family == Family.IPV4;
    int source = v4 ? 12 : 8;
    return switch (payload.base()) {
      case TRANSPORT ->
          length != 2 || offset != 0 && offset != 2
              ? null
              : new Part(Form.PLAIN, offset == 0 ? Field.SOURCE_PORT : Field.PORT, 2);
      case NETWORK ->
          offset == (v4 ? 9 : 6) && length == 1
              ? new Part(Form.PLAIN, Field.PROTOCOL, 1)
              : length > family.bytes() || offset != source && offset != source + family.bytes()
                  ? null
                  : new Part(
                      Form.PLAIN, offset == source ? Field.SOURCE : Field.DESTINATION, length);
      case LINK, INNER -> null;
    };
  }

  private static @Nullable Part part(Load.Meta.Key key) {
    return switch (key) {
      case NFPROTO -> new Part(Form.FAMILY, Field.TO_NODE, 1);
      case L4PROTO -> new Part(Form.PLAIN, Field.PROTOCOL, 1);
      case MARK -> MARK;
      case OIFNAME -> new Part(Form.NAME, Field.OUT, NFT_REG_SIZE);
      case IIFNAME -> new Part(Form.NAME, Field.IN, NFT_REG_SIZE);
      case OIF -> new Part(Form.INDEX, Field.OUT, 4);
      case IIF -> new Part(Form.INDEX, Field.IN, 4);
      default -> null;
    };
  }

  private static @Nullable Part part(Load.Fib fib) {
    boolean source = fib.flags().equals(Set.of(Load.Fib.Flag.SADDR));
    return fib.result() == Load.Fib.Result.TYPE
            && (source || fib.flags().equals(Set.of(Load.Fib.Flag.DADDR)))
        ? new Part(Form.TYPE, source ? Field.FROM_NODE : Field.TO_NODE, 4)
        : null;
  }

  private static @Nullable Part part(Load.Ct.Key key) {
    return switch (key) {
      case STATE -> new Part(Form.CT_STATE, Field.TO_NODE, 4);
      case STATUS -> new Part(Form.CT_STATUS, Field.TO_NODE, 4);
      case DIRECTION, MARK -> null;
    };
  }

  private @Nullable Part masked(Compute.Bitwise it) {
    return held(it.from()) instanceof Part part
            && part.isWhole()
            && it.mask().length() == part.length
        ? new Part(
            part.form, part.field, part.length, part.number(it.mask()), part.number(it.xor()))
        : null;
  }

  /** That a value lies between two others, ends included. */
  private Test between(@Nullable Value value, Data from, Data to) {
    boolean one = from.equals(to);
    if (!(value instanceof Part part)) {
      return Test.UNJUDGED;
    }
    if (part.form == Form.NAME) {
      return one && part.isWhole()
          ? place.link(part.field == Field.OUT, name(from), links)
          : Test.UNJUDGED;
    }
    if (from.length() != part.length || !one && !part.isWhole()) {
      return Test.UNJUDGED;
    }
    BigInteger first = part.number(from);
    if (part.form == Form.PLAIN) {
      return in(part, first, part.number(to));
    }
    return !one
        ? Test.UNJUDGED
        : switch (part.form) {
          case INDEX ->
              Optional.of(first.intValue())
                  .filter(_ -> part.isWhole())
                  .flatMap(kernel::interfaceName)
                  .map(name -> place.link(part.field == Field.OUT, name, links))
                  .orElse(Test.UNJUDGED);
          case TYPE ->
              part.isWhole() && first.intValue() == RTN_LOCAL
                  ? Test.of(part.field, Cell.YES)
                  : Test.UNJUDGED;
          case MARK -> new Step.Marked(first.xor(part.xor).longValue(), part.mask.longValue());
          case FAMILY -> known(part, first, family == Family.IPV4 ? 2 : 10, 0xff);
          case CT_STATE -> tracked(part, first, 8, 0xffff_ffffL); // NF_CT_STATE_BIT(IP_CT_NEW)
          case CT_STATUS -> tracked(part, first, 0, 0x3f); // IPS_EXPECTED to IPS_DST_NAT
          case PLAIN, NAME -> throw new IllegalStateException("judged before");
        };
  }

  /** A name, or a prefix of one if the kernel compares fewer bytes. */
  private static String name(Data data) {
    String text = new String(data.bytes(), StandardCharsets.UTF_8);
    int end = text.indexOf('\0');
    return end < 0 ? text + "+" : text.substring(0, end);
  }

  /** Of a prefix, nft loads only the bytes that it needs, or keeps only its bits. */
  private Test in(Part part, BigInteger first, BigInteger last) {
    BigInteger rest = part.mask.xor(ones(part.length * 8));
    if (part.xor.signum() != 0 || rest.and(rest.add(BigInteger.ONE)).signum() != 0) {
      return Test.UNJUDGED; // a mask with holes
    }
    boolean address = part.field == Field.SOURCE || part.field == Field.DESTINATION;
    int more = address ? (family.bytes() - part.length) * 8 : 0;
    return first.and(rest).signum() != 0
        ? Step.In.NEVER
        : Test.of(
            part.field,
            new Interval(first.shiftLeft(more), last.or(rest).shiftLeft(more).or(ones(more))));
  }

  private Test tracked(Part part, BigInteger expected, long value, long bits) {
    return place.isBeforeTracking() ? Test.UNJUDGED : known(part, expected, value, bits);
  }

  /** A number of which some bits are known. */
  private static Test known(Part part, BigInteger expected, long value, long bits) {
    long mask = part.mask.longValue();
    long kept = expected.xor(part.xor).longValue();
    if (((value ^ kept) & bits & mask) != 0 || (kept & ~mask) != 0) {
      return Step.In.NEVER;
    }
    return (mask & ~bits) == 0 ? Step.In.ALWAYS : Test.UNJUDGED;
  }

  /** The parts of the packet that form a set's key; empty if one is not known. */
  private Optional<List<Part>> key(int register, int length) {
    List<Part> parts = new ArrayList<>();
    for (int slot = slot(register), left = length; left > 0; ) {
      if (!(registers.get(slot) instanceof Part part) || part.length > left) {
        return Optional.empty();
      }
      parts.add(part);
      slot += padded(part) / 4;
      left = left == part.length ? 0 : left - padded(part);
    }
    return Optional.of(parts);
  }

  private static int padded(Part part) {
    return part.length + 3 & ~3;
  }

  private Test isIn(int register, String name) {
    Optional<Content> content = sets.content(name);
    Optional<List<Part>> key = content.flatMap(it -> key(register, it.set().key().length()));
    if (key.isEmpty()) {
      return Test.UNJUDGED;
    }
    if (content.get().entries().isEmpty()) {
      return new Step.Member(new InKernel(this, content.get().set(), key.get()));
    }
    List<Box> boxes = new ArrayList<>();
    for (Entry entry : content.get().entries().get()) {
      if (!(test(key.get(), entry) instanceof Step.In(var box))) {
        return Test.UNJUDGED;
      }
      boxes.addAll(box);
    }
    return Test.of(boxes);
  }

  /** That the key of a packet is that of an entry. */
  private Test test(List<Part> key, Entry entry) {
    Optional<Box> box = Optional.of(Box.ALL);
    int at = 0;
    for (Part part : entry.isForOthers() ? List.<Part>of() : key) {
      int end = Math.min(at + part.length, entry.first().length);
      Data first = Data.of(Arrays.copyOfRange(entry.first(), at, end));
      Data last = Data.of(Arrays.copyOfRange(entry.last(), at, end));
      if (!(between(part, first, last) instanceof Step.In(var each))) {
        return Test.UNJUDGED;
      }
      box = box.flatMap(it -> each.stream().findFirst().flatMap(it::and));
      at += padded(part);
    }
    return new Step.In(box.stream().toList());
  }

  private void map(Load.MapLookup lookup) {
    Optional<Content> content = sets.content(lookup.map());
    Optional<List<Part>> key =
        content.flatMap(it -> key(lookup.register(), it.set().key().length()));
    if (!lookup.isVerdict()) {
      steps.add(Test.UNJUDGED);
      load(lookup.to(), 4 * NFT_REG_SIZE, null);
    } else if (key.isEmpty()) {
      steps.add(Step.Unknown.PATH);
    } else {
      steps.add(
          content
              .get()
              .entries()
              .map(it -> verdicts(key.get(), it))
              .orElse(new Step.Ask(new InKernel(this, content.get().set(), key.get()))));
    }
  }

  /** What a map of verdicts does; the one for all other keys comes last. */
  private Step verdicts(List<Part> key, List<Entry> entries) {
    List<Choice> choices = new ArrayList<>();
    for (Entry entry : entries) {
      if (!(test(key, entry) instanceof Step.In(var boxes))) {
        return Step.Unknown.PATH;
      }
      Step step = entry.element().verdict().flatMap(this::step).orElse(Step.NOTHING);
      boxes.forEach(box -> choices.add(new Choice(box, step)));
    }
    return new Step.Choose(choices);
  }

  /** What a verdict does; empty: nothing. */
  private Optional<Step> step(Statement.Verdict verdict) {
    return switch (verdict.code()) {
      case DROP -> Optional.of(Step.Verdict.DROP);
      case ACCEPT -> Optional.of(Step.Verdict.ACCEPT);
      case RETURN -> Optional.of(Step.Verdict.RETURN);
      case CONTINUE -> Optional.empty();
      case JUMP -> jumps.to(verdict.chain(), false);
      case GOTO -> jumps.to(verdict.chain(), true);
    };
  }

  private static Step setMark(@Nullable Value value) {
    return switch (value) {
      case Part part when part.form == Form.MARK ->
          new Step.SetMark(part.mask.longValue(), part.xor.longValue(), 0);
      case Constant(var data) when data.length() == 4 ->
          new Step.SetMark(0, MARK.number(data).longValue(), 0);
      case null, default -> Step.SetMark.ANY;
    };
  }

  /** An SNAT to what the source already is binds the connection to it. */
  private Step nat(Statement.Nat nat) {
    if (nat.kind() != Statement.Nat.Kind.SNAT) {
      return Step.Verdict.REDIRECT;
    }
    Value first = held(nat.firstAddress());
    Value last = held(nat.lastAddress());
    Part own = new Part(Form.PLAIN, Field.SOURCE, family.bytes());
    if (nat.firstAddress() == 0 || own.equals(first) && own.equals(last)) {
      return Step.Verdict.KEEP; // it gets another port at most
    }
    return first instanceof Constant(var from)
            && last instanceof Constant(var to)
            && from.length() == family.bytes()
            && to.length() == family.bytes()
            && Arrays.compareUnsigned(from.bytes(), to.bytes()) <= 0
        ? new Step.Translate(
            false, Optional.of(new IpRange(Ip.ofBytes(from.bytes()), Ip.ofBytes(to.bytes()))))
        : Step.Unknown.ADDRESSES;
  }

  /** What iptables-nft left, where iptables itself does not list it. */
  private void xtables(Xtables xtables) {
    byte[] info = xtables.info().bytes();
    if (xtables.kind() == Xtables.XtKind.MATCH) {
      if (!xtables.name().equals("comment")) {
        steps.add(Test.UNJUDGED);
      }
    } else if (xtables.name().equals("MARK") && xtables.revision() == 2 && info.length >= 8) {
      long mark = MARK.number(Data.of(Arrays.copyOf(info, 4))).longValue();
      long mask = MARK.number(Data.of(Arrays.copyOfRange(info, 4, 8))).longValue();
      steps.add(new Step.SetMark(~mask & Step.Mark.ALL, mark, 0)); // struct xt_mark_tginfo2
    } else {
      IptablesReader.target(xtables.name()).ifPresent(steps::add);
    }
  }

  /** Expressions that neither match nor decide are skipped; any other is not judged. */
  private void unknown(Unknown unknown) {
    switch (unknown.name()) {
      case "log", "last", "dup" -> {}
      case "notrack" -> place.untracked().ifPresent(steps::add);
      case "redir", "tproxy" -> steps.add(Step.Verdict.REDIRECT);
      case "nat", "masq" -> steps.add(Step.Unknown.ADDRESSES);
      case "queue", "reject", "synproxy", "fwd", "immediate" -> steps.add(Step.Unknown.VERDICT);
      default -> {
        if (unknown.name().equals("payload") && unknown.has(NFTA_PAYLOAD_SREG)) {
          steps.add(Step.Unknown.ADDRESSES); // it changes the packet
        } else if (!unknown.name().equals("ct") || !unknown.has(NFTA_CT_SREG)) {
          registers.clear(); // it may load any, or match
          steps.add(Test.UNJUDGED);
        }
      }
    }
  }

  /** Asks for the element of a large set that a packet meets. */
  private record InKernel(NftReader reader, NftSet set, List<Part> key) implements Step.Lookup {
    @Override
    public Optional<Boolean> has(Cell cell) {
      return element(cell).map(Optional::isPresent);
    }

    @Override
    public Optional<Step> verdict(Cell cell) {
      return element(cell).flatMap(it -> it).flatMap(Element::verdict).flatMap(reader::step);
    }

    private Optional<Optional<Element>> element(Cell cell) {
      byte[] bytes = new byte[set.key().length()];
      int at = 0;
      for (Part part : key) {
        Interval side = cell.get(part.field);
        boolean known =
            part.form == Form.PLAIN
                && part.isWhole()
                && side.isSingle()
                && reader.in(part, side.first(), side.first()).ask(cell, new Step.Mark(0, 0))
                    == Answer.Known.YES;
        if (!known) {
          return Optional.empty();
        }
        System.arraycopy(side.bytes(part.length), 0, bytes, at, part.length);
        at += padded(part);
      }
      return reader.kernel.nftables(it -> it.element(set, bytes));
    }

    /** Whatever read it. */
    @Override
    public boolean equals(Object other) {
      return other instanceof InKernel it && set.equals(it.set) && key.equals(it.key);
    }

    @Override
    public int hashCode() {
      return set.hashCode();
    }
  }
}
