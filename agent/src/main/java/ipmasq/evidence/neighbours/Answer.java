package ipmasq.evidence.neighbours;

import ipmasq.evidence.neighbours.Cell.Field;
import java.math.BigInteger;

/** Whether a cell meets a test. */
sealed interface Answer {
  /** The same for all of its packets. */
  enum Known implements Answer {
    YES,
    NO,
    /** It is not judged. */
    MAY
  }

  /** It depends on the packet: ask again for those below this value, and for the others. */
  record Cut(Field field, BigInteger at) implements Answer {}

  static Answer of(boolean holds) {
    return holds ? Known.YES : Known.NO;
  }

  /** Whether it meets both; what is certain counts first. */
  default Answer and(Answer other) {
    if (this == Known.NO || other == Known.YES || this instanceof Cut && other != Known.NO) {
      return this;
    }
    return this == Known.MAY && other == Known.MAY ? this : other;
  }

  default Answer not() {
    return this == Known.YES ? Known.NO : this == Known.NO ? Known.YES : this;
  }

  default Answer or(Answer other) {
    return not().and(other.not()).not();
  }
}
