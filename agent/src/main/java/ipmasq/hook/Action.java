package ipmasq.hook;

import ipmasq.net.IpRange;
import java.util.List;
import java.util.Optional;

/** What a rule does to a packet that it matches. */
public sealed interface Action {
  /**
   * It gets another source, which binds the connection: later rules do not apply.
   *
   * @param how the rule's own word for it: {@code MASQUERADE}, {@code snat}
   * @param to the addresses to choose from; empty: that of the interface, or unknown
   */
  record Translate(String how, Optional<IpRange> to) implements Action {
    /** To an address of the interface that the packet leaves by. */
    public Translate(String how) {
      this(how, Optional.empty());
    }
  }

  /** It is bound to its own source: later rules do not apply. */
  record Keep() implements Action {}

  /** Connections are not tracked, and so not translated; has an effect only before tracking. */
  record Untrack() implements Action {}

  /** Our policy decides: packets to exempt destinations go on, all others are translated. */
  record Ours() implements Action {}

  /** The reverse: packets to exempt destinations are bound to their source, all others go on. */
  record Pin() implements Action {}

  /** The chain ends, and the one that jumped here goes on. */
  record Return() implements Action {}

  /** The base chain ends; those of other priorities still run. */
  record Accept() implements Action {}

  /** The packet is dropped. */
  record Drop() implements Action {}

  record Jump(String chain) implements Action {}

  /** A jump without return. */
  record Goto(String chain) implements Action {}

  /** The verdict of a map for the packet; no action if the map has none. */
  record Ask(List<SetKey> keys, ElementSet map) implements Action {
    public Ask {
      keys = List.copyOf(keys);
    }
  }

  /** It gets another destination. */
  record ChangeDestination(String how) implements Action {}

  /**
   * It gets a mark that later rules may look at: {@code mark & and ^ xor}.
   *
   * @param unknown the bits that may be anything afterwards
   */
  record SetMark(long and, long xor, long unknown) implements Action {
    private static final long ALL = 0xffff_ffffL;

    /** Any mark. */
    public static final SetMark UNKNOWN = unknown(ALL);

    /** Any value for these bits; the others stay. */
    public static SetMark unknown(long bits) {
      return new SetMark(~bits & ALL, 0, bits);
    }

    public SetMark(long and, long xor) {
      this(and, xor, 0);
    }

    /** The bits that it may change. */
    long changes() {
      return (~and | xor | unknown) & ALL;
    }

    /** The bits that it may set in a mark of 0. */
    long sets() {
      return xor | unknown;
    }
  }

  /** It gets a mark, and then another action applies. */
  record MarkAnd(SetMark mark, Action then) implements Action {}

  /** Nothing relevant: the packet is counted or logged. */
  record NoAction() implements Action {}

  /** Something that this agent cannot judge, in the rule's own words. */
  record UnknownAction(String text) implements Action {}
}
