package ipmasq.hook;

/** Whether something holds, as far as known. */
public enum Truth {
  NO,
  MAYBE,
  YES;

  public static Truth of(boolean holds) {
    return holds ? YES : NO;
  }

  public Truth not() {
    return switch (this) {
      case NO -> YES;
      case MAYBE -> MAYBE;
      case YES -> NO;
    };
  }

  Truth and(Truth other) {
    return compareTo(other) <= 0 ? this : other;
  }

  Truth or(Truth other) {
    return compareTo(other) >= 0 ? this : other;
  }
}
