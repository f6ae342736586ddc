package ipmasq.hook;

import java.util.List;
import java.util.Set;

/** Whether something holds, as far as can be told. */
public enum Truth {
  NO,
  MAYBE,
  YES;

  static Truth of(boolean holds) {
    return holds ? YES : NO;
  }

  Truth not() {
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

  /** What can be told of packets that may be of any of these kinds. */
  static Truth together(List<Truth> kinds) {
    return Set.copyOf(kinds).size() == 1 ? kinds.getFirst() : MAYBE;
  }
}
