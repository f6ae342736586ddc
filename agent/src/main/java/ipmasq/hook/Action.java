package ipmasq.hook;

import ipmasq.net.IpRange;
import java.util.List;
import java.util.Optional;

/** What a rule does to a packet that it matches. */
public sealed interface Action {
  /**
   * It gets another source, which binds the connection: no later rule is asked.
   *
   * @param how the rule's own word for it: {@code MASQUERADE}, {@code snat}
   * @param to the addresses to choose from; nothing: that of the interface, or not known
   */
  record Translate(String how, Optional<IpRange> to) implements Action {
    /** To an address of the interface that the packet leaves by. */
    public Translate(String how) {
      this(how, Optional.empty());
    }
  }

  /** It is bound to the source that it has: no later rule is asked either. */
  record Keep() implements Action {}

  /** Our policy decides: a destination that is exempt goes on, any other is translated. */
  record Ours() implements Action {}

  /** The same the other way round: an exempt one is bound to its source, any other goes on. */
  record Pin() implements Action {}

  /** The chain ends, and the one that jumped here goes on. */
  record Return() implements Action {}

  /** The base chain ends; those of other priorities are still asked. */
  record Accept() implements Action {}

  /** The packet goes nowhere. */
  record Drop() implements Action {}

  record Jump(String chain) implements Action {}

  /** As a jump, but without coming back. */
  record Goto(String chain) implements Action {}

  /** Whatever a verdict map holds for the packet, and nothing where it holds nothing. */
  record Ask(List<SetKey> keys, ElementSet map) implements Action {
    public Ask {
      keys = List.copyOf(keys);
    }
  }

  /** It gets another destination, which other rules know of. */
  record ChangeDestination(String how) implements Action {}

  /**
   * It gets a mark that later rules may look at: {@code mark & and ^ xor}.
   *
   * @param known whether those two are
   */
  record SetMark(long and, long xor, boolean known) implements Action {
    public static final SetMark UNKNOWN = new SetMark(0, 0, false);
  }

  /** It gets a mark, and something else happens to it. */
  record MarkAnd(SetMark mark, Action then) implements Action {}

  /** Nothing that matters here: it is counted or logged. */
  record NoAction() implements Action {}

  /** Something that this agent cannot judge, in the rule's own words. */
  record UnknownAction(String text) implements Action {}
}
