package ipmasq.hook;

/**
 * What is known of a packet's mark.
 *
 * @param value the bits that are known
 * @param unknown the bits that are not
 */
public record Marks(long value, long unknown) {
  private static final long ALL = 0xffff_ffffL;

  /** None of these bits set. */
  static Marks zero(long unknown) {
    return new Marks(0, unknown);
  }

  /** The same where these bits may have changed. */
  Marks unsure(long bits) {
    return new Marks(value, unknown | bits);
  }

  /** Whether these bits of it have this value. */
  Truth are(long wanted, long mask) {
    if ((wanted & ~mask) != 0 || ((value ^ wanted) & mask & ~unknown) != 0) {
      return Truth.NO;
    }
    return (unknown & mask) == 0 ? Truth.YES : Truth.MAYBE;
  }

  /** The mark after a rule that sets it, certainly or perhaps. */
  Marks after(Action.SetMark set, boolean certain) {
    Marks changed =
        new Marks(
            (value & set.and() ^ set.xor()) & ALL & ~set.unknown(),
            unknown & set.and() | set.unknown());
    return certain
        ? changed
        : new Marks(value, (unknown | changed.unknown | value ^ changed.value) & ALL);
  }
}
