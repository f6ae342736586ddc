package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.Data;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.Message;
import ipmasq.netlink.MessageWriter;
import ipmasq.netlink.nftables.Statement.Counter;
import ipmasq.netlink.nftables.Statement.Verdict;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * An element of a set or map. A range is two of them, and the kernel lists the last range first;
 * nft also adds an end before the first range, which closes nothing.
 *
 * <pre>
 *   240.0.0.0   12.0.0.0 end   11.0.0.0   11.0.0.0 end   10.0.0.0   0.0.0.0 end
 *   |→ to the last address     |----------|              |
 * </pre>
 *
 * @param key empty in the catch-all element
 * @param last the last key, if the element itself holds a range, as in concatenations
 * @param end whether it is the key after a range instead of a first key
 * @param data what a map holds for it
 * @param verdict what a verdict map holds for it
 * @param counter what matched it; zeros if it does not count
 */
public record Element(
    Optional<Data> key,
    Optional<Data> last,
    boolean end,
    Optional<Data> data,
    Optional<Verdict> verdict,
    Counter counter) {
  private static final int NFTA_SET_ELEM_LIST_ELEMENTS = 3;
  private static final int NFTA_SET_ELEM_KEY = 1;
  private static final int NFTA_SET_ELEM_DATA = 2;
  private static final int NFTA_SET_ELEM_FLAGS = 3;
  private static final int NFTA_SET_ELEM_EXPR = 7;
  private static final int NFTA_SET_ELEM_KEY_END = 10;
  private static final int NFTA_SET_ELEM_EXPRESSIONS = 11;
  private static final int NFT_SET_ELEM_INTERVAL_END = 1;
  private static final int NFT_SET_ELEM_CATCHALL = 2;
  private static final Counter NOTHING = new Counter(0, 0);

  /** The list is one attribute, whose length has 16 bits. Half of that keeps the buffer small. */
  private static final int ENOUGH = 32_000;

  /** Keys in network order, both ends included; of a set of single keys only the first counts. */
  public record Range(byte[] first, byte[] last) {}

  /** Writes ranges until they end or the message is full. */
  static void write(MessageWriter out, NftSet set, Iterator<Range> ranges) {
    set.name(out); // the numbers of table and name are the same in both messages
    int list = out.nest(NFTA_SET_ELEM_LIST_ELEMENTS);
    while (ranges.hasNext() && out.length() - list < ENOUGH) {
      Range range = ranges.next();
      write(out, range.first, 0);
      byte[] after = range.last.clone();
      if (set.hasIntervals() && increment(after)) {
        write(out, after, NFT_SET_ELEM_INTERVAL_END);
      }
    }
    out.end(list);
  }

  /** The key after it; false where there is none. */
  private static boolean increment(byte[] key) {
    for (int i = key.length - 1; i >= 0; i--) {
      if (++key[i] != 0) {
        return true;
      }
    }
    return false;
  }

  private static void write(MessageWriter out, byte[] key, int flags) {
    int element = out.nest(Expressions.NFTA_LIST_ELEM);
    if (flags != 0) {
      out.u32(NFTA_SET_ELEM_FLAGS, flags);
    }
    if (key.length > 0) {
      Expressions.data(out, NFTA_SET_ELEM_KEY, Data.of(key));
    }
    out.end(element);
  }

  /** Names the element of a key; of no bytes, that of all keys without their own. */
  static void writeKey(MessageWriter out, byte[] key) {
    int list = out.nest(NFTA_SET_ELEM_LIST_ELEMENTS);
    write(out, key, key.length == 0 ? NFT_SET_ELEM_CATCHALL : 0);
    out.end(list);
  }

  static void read(Message message, Consumer<Element> found) throws MalformedMessage {
    for (Attributes element : message.attributes().list(NFTA_SET_ELEM_LIST_ELEMENTS)) {
      found.accept(read(element));
    }
  }

  private static Element read(Attributes attributes) throws MalformedMessage {
    Attributes data = attributes.nested(NFTA_SET_ELEM_DATA);
    return new Element(
        value(attributes, NFTA_SET_ELEM_KEY),
        value(attributes, NFTA_SET_ELEM_KEY_END),
        (attributes.u32(NFTA_SET_ELEM_FLAGS, 0) & NFT_SET_ELEM_INTERVAL_END) != 0,
        value(attributes, NFTA_SET_ELEM_DATA),
        data.has(Expressions.NFTA_DATA_VERDICT)
            ? Optional.of(Verdict.read(data.nested(Expressions.NFTA_DATA_VERDICT)))
            : Optional.empty(),
        counter(attributes));
  }

  private static Optional<Data> value(Attributes attributes, int type) throws MalformedMessage {
    Attributes wrapped = attributes.nested(type);
    return wrapped.has(Expressions.NFTA_DATA_VALUE)
        ? Optional.of(Data.of(wrapped.bytes(Expressions.NFTA_DATA_VALUE)))
        : Optional.empty();
  }

  private static Counter counter(Attributes attributes) throws MalformedMessage {
    List<Attributes> expressions =
        attributes.has(NFTA_SET_ELEM_EXPR)
            ? List.of(attributes.nested(NFTA_SET_ELEM_EXPR))
            : attributes.list(NFTA_SET_ELEM_EXPRESSIONS);
    for (Attributes expression : expressions) {
      if (Expressions.read(expression) instanceof Counter counter) {
        return counter;
      }
    }
    return NOTHING;
  }
}
