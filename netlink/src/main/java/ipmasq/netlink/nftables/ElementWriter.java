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
  static final int NFTA_SET_ELEM_LIST_TABLE = 1;
  static final int NFTA_SET_ELEM_LIST_SET = 2;
  static final int NFTA_SET_ELEM_LIST_ELEMENTS = 3;
  static final int NFTA_SET_ELEM_KEY = 1;
  static final int NFTA_SET_ELEM_FLAGS = 3;
  static final int NFTA_SET_ELEM_EXPR = 7;
  static final int NFTA_SET_ELEM_EXPRESSIONS = 11;
  static final int NFT_SET_ELEM_INTERVAL_END = 1;

  /** The list is one attribute, whose length has 16 bits. Half of that keeps the buffer small. */
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
    out.string(NFTA_SET_ELEM_LIST_TABLE, set.table()).string(NFTA_SET_ELEM_LIST_SET, set.name());
    int list = out.nest(NFTA_SET_ELEM_LIST_ELEMENTS);
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
    int element = out.nest(Expressions.NFTA_LIST_ELEM);
    if (end) {
      out.u32(NFTA_SET_ELEM_FLAGS, NFT_SET_ELEM_INTERVAL_END);
    }
    int wrapped = out.nest(NFTA_SET_ELEM_KEY);
    out.bytes(Expressions.NFTA_DATA_VALUE, key).end(wrapped);
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
