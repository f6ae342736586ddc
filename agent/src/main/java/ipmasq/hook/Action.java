package ipmasq.hook;

/** What a rule does to a packet that it matches. */
public sealed interface Action {
  /**
   * It gets another source, which binds the connection: no later rule is asked.
   *
   * @param how the rule's own word for it: {@code MASQUERADE}, {@code snat}
   */
  record Translate(String how) implements Action {}

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

  /** It gets a mark that later rules may look at. */
  record SetMark() implements Action {}

  /** Nothing that matters here: it is counted or logged. */
  record Nothing() implements Action {}

  /** Something that this agent cannot judge, in the rule's own words. */
  record Unknown(String text) implements Action {}
}
