package ipmasq.netlink.nftables;

import ipmasq.netlink.MessageWriter;

/**
 * Writes the elements of a set into as many messages as they need. Used by one thread.
 *
 * <pre>
 *   10.0.0.0/8  →  { key 10.0.0.0 } { key 11.0.0.0, end }     16 + 24 bytes
 *   240.0.0.0/4 →  { key 240.0.0.0 }                          nothing comes after its last address
 * </pre>
 */
final class ElementWriter {
  static final int SET_TABLE = 1;
  static final int SET_NAME = 2;
  static final int ELEMENTS = 3;
  static final int ELEMENT = 1;
  static final int KEY = 1;
  static final int FLAGS = 3;
  static final int EXPRESSION = 7;
  static final int EXPRESSIONS = 11;
  static final int VALUE = 1;
  static final int END = 1;

  /** The list is one attribute, whose length has 16 bits. Half of that leaves the buffer small. */
  private static final int ENOUGH = 32_000;

  private final NftSet set;
  private final Ranges ranges;
  private final byte[] first;
  private final byte[] last;
  private boolean more;

  ElementWriter(NftSet set, Ranges ranges) {
    this.set = set;
    this.ranges = ranges;
    first = new byte[set.key().length()];
    last = new byte[set.key().length()];
    more = ranges.next(first, last);
  }

  /** Whether elements are left for another message. */
  boolean more() {
    return more;
  }

  void write(MessageWriter out) {
    out.string(SET_TABLE, set.table()).string(SET_NAME, set.name());
    int list = out.nest(ELEMENTS);
    while (more && out.length() - list < ENOUGH) {
      element(out, first, false);
      if (set.hasIntervals() && increment(last)) {
        element(out, last, true);
      }
      more = ranges.next(first, last);
    }
    out.end(list);
  }

  private static void element(MessageWriter out, byte[] key, boolean end) {
    int element = out.nest(ELEMENT);
    if (end) {
      out.u32(FLAGS, END);
    }
    int wrapped = out.nest(KEY);
    out.bytes(VALUE, key).end(wrapped);
    out.end(element);
  }

  /** The key after it; false where there is none. */
  static boolean increment(byte[] key) {
    for (int i = key.length - 1; i >= 0; i--) {
      if (++key[i] != 0) {
        return true;
      }
    }
    return false;
  }

  static void decrement(byte[] key) {
    for (int i = key.length - 1; i >= 0; i--) {
      if (key[i]-- != 0) {
        return;
      }
    }
  }
}
