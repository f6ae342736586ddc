package ipmasq.evidence.neighbours;

import ipmasq.net.IpRange;
import ipmasq.netlink.nftables.Statement.Verdict;
import java.util.List;
import java.util.Optional;

/** What a rule does, in order: tests, which end it for packets that fail them, and actions. */
sealed interface Step {
  /** A test. */
  sealed interface Test extends Step {}

  /** A field has one of these values. */
  record Is(Packets.Field field, Ranges ranges, boolean negated) implements Test {}

  /** It leaves, or came in, by an interface of such a name. */
  record Link(boolean out, List<String> names, boolean negated) implements Test {
    public Link {
      names = List.copyOf(names);
    }
  }

  /** These bits of its mark have this value. */
  record Marked(long value, long mask, boolean negated) implements Test {}

  /** It goes to the node itself, or comes from it. */
  record Local(boolean source, boolean negated) implements Test {}

  /** What is known of the first packet of a connection, if connection tracking has seen it. */
  record Tracked(boolean holds, String text) implements Test {}

  /** All tests of one of these hold: an element of a set of several fields. */
  record AnyOf(List<List<Test>> alternatives, boolean negated, String set) implements Test {
    public AnyOf {
      alternatives = List.copyOf(alternatives);
    }
  }

  /** A set too large to read has it: the kernel is asked, if the packet is known well enough. */
  record Member(Lookup lookup, boolean negated) implements Test {}

  /** For all packets, or for none. */
  record Constant(boolean holds) implements Test {}

  /** Something that is not judged, in the rule's own words. */
  record Unjudged(String text) implements Test {}

  /** Asks the kernel for one element. */
  interface Lookup {
    String described();

    /** Whether it is there; empty: it may be. */
    Optional<Boolean> has(Packets packets);

    /** What a map has for it; empty: that is not known. */
    Optional<Step> action(Packets packets);
  }

  /** The verdict of a large map. */
  record Ask(Lookup lookup) implements Step {}

  /**
   * It gets another source, which binds the connection: later rules do not apply.
   *
   * @param to the addresses to choose from; empty: that of the interface, or unknown
   */
  record Translate(boolean masquerade, Optional<IpRange> to) implements Step {}

  /** It is bound to its own source: later rules do not apply. */
  record Keep() implements Step {}

  /** Connections are not tracked, and so not translated, if this comes before tracking. */
  record Untrack() implements Step {}

  /** Our policy decides: packets to exempt destinations go on, all others are translated. */
  record Ours() implements Step {}

  /** The reverse: packets to exempt destinations are bound to their source, all others go on. */
  record Pin() implements Step {}

  /** The chain ends, and the one that jumped here goes on. */
  record Return() implements Step {}

  /** The base chain ends; those of other priorities still run. */
  record Accept() implements Step {}

  record Drop() implements Step {}

  record Jump(String chain) implements Step {}

  /** A jump without return. */
  record Goto(String chain) implements Step {}

  /** It gets another destination. */
  record Redirect() implements Step {}

  /**
   * It gets a mark that later rules may test: {@code mark & and ^ xor}.
   *
   * @param unknown the bits that may be anything afterwards
   */
  record SetMark(long and, long xor, long unknown) implements Step {
    static final SetMark ANY = unknown(0xffff_ffffL);

    /** Any value for these bits; the others stay. */
    static SetMark unknown(long bits) {
      return new SetMark(~bits & 0xffff_ffffL, 0, bits);
    }

    /** The bits that it may change. */
    long changes() {
      return (~and | xor | unknown) & 0xffff_ffffL;
    }
  }

  /** Nothing that matters here. */
  record Continue() implements Step {}

  /** Something that is not judged. */
  record Unknown(String text, Effect effect) implements Step {}

  /** What something unknown may do. */
  enum Effect {
    /** Take the packet or let it go on: outside nat, that is a filter's business. */
    VERDICT,
    /** Lead to other chains, which may do anything. */
    PATH,
    /** Change the packet's addresses, wherever it stands. */
    ADDRESSES
  }

  /** What a verdict of nf_tables does; empty: nothing. */
  static Optional<Step> of(Verdict verdict) {
    return switch (verdict.code()) {
      case DROP -> Optional.of(new Drop());
      case ACCEPT -> Optional.of(new Accept());
      case CONTINUE -> Optional.empty();
      case JUMP -> Optional.of(new Jump(verdict.chain()));
      case GOTO -> Optional.of(new Goto(verdict.chain()));
      case RETURN -> Optional.of(new Return());
    };
  }

  /** The opposite. */
  static Test not(Test test) {
    return switch (test) {
      case Is(var field, var ranges, var negated) -> new Is(field, ranges, !negated);
      case Link(var out, var names, var negated) -> new Link(out, names, !negated);
      case Marked(var value, var mask, var negated) -> new Marked(value, mask, !negated);
      case Local(var source, var negated) -> new Local(source, !negated);
      case Tracked(var holds, var text) -> new Tracked(!holds, text);
      case AnyOf(var alternatives, var negated, var set) -> new AnyOf(alternatives, !negated, set);
      case Member(var lookup, var negated) -> new Member(lookup, !negated);
      case Constant(var holds) -> new Constant(!holds);
      case Unjudged it -> it;
    };
  }
}
