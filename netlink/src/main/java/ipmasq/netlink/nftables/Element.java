package ipmasq.netlink.nftables;

import ipmasq.netlink.AttributeReader;
import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageReader;
import ipmasq.netlink.MessageWriter;
import ipmasq.netlink.nftables.Statement.Verdict;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * An element of a set or map.
 *
 * @param key empty in the catch-all element
 * @param last the last key, if the element itself holds a range, as in concatenations
 * @param end whether it is the key after a range instead of a first key
 * @param data what a map holds for it
 * @param verdict what a verdict map holds for it
 */
public record Element(
    Optional<Data> key,
    Optional<Data> last,
    boolean end,
    Optional<Data> data,
    Optional<Verdict> verdict) {
  private static final int NFTA_SET_ELEM_DATA = 2;
  private static final int NFTA_SET_ELEM_KEY_END = 10;
  private static final int NFT_SET_ELEM_CATCHALL = 2;

  static void writeKey(MessageWriter out, byte[] key) {
    int list = out.nest(ElementWriter.NFTA_SET_ELEM_LIST_ELEMENTS);
    int element = out.nest(Expressions.NFTA_LIST_ELEM);
    int wrapped = out.nest(ElementWriter.NFTA_SET_ELEM_KEY);
    out.bytes(Expressions.NFTA_DATA_VALUE, key).end(wrapped).end(element).end(list);
  }

  /** Names the element for all keys without their own. */
  static void writeCatchAll(MessageWriter out) {
    int list = out.nest(ElementWriter.NFTA_SET_ELEM_LIST_ELEMENTS);
    int element = out.nest(Expressions.NFTA_LIST_ELEM);
    out.u32(ElementWriter.NFTA_SET_ELEM_FLAGS, NFT_SET_ELEM_CATCHALL).end(element).end(list);
  }

  static void read(MessageReader message, Consumer<Element> found) throws MalformedMessage {
    AttributeReader attributes = message.attributes();
    while (attributes.next()) {
      if (attributes.type() == ElementWriter.NFTA_SET_ELEM_LIST_ELEMENTS) {
        AttributeReader list = attributes.nested();
        while (list.next()) {
          found.accept(read(Attributes.of(list.nested(), NFTA_SET_ELEM_KEY_END)));
        }
      }
    }
  }

  private static Element read(Attributes attributes) throws MalformedMessage {
    Attributes data = attributes.nested(NFTA_SET_ELEM_DATA, Expressions.NFTA_DATA_VERDICT);
    return new Element(
        value(attributes, ElementWriter.NFTA_SET_ELEM_KEY),
        value(attributes, NFTA_SET_ELEM_KEY_END),
        (attributes.u32(ElementWriter.NFTA_SET_ELEM_FLAGS, 0)
                & ElementWriter.NFT_SET_ELEM_INTERVAL_END)
            != 0,
        value(attributes, NFTA_SET_ELEM_DATA),
        data.has(Expressions.NFTA_DATA_VERDICT)
            ? Optional.of(Verdict.read(data.list(Expressions.NFTA_DATA_VERDICT)))
            : Optional.empty());
  }

  private static Optional<Data> value(Attributes attributes, int type) throws MalformedMessage {
    Attributes wrapped = attributes.nested(type, Expressions.NFTA_DATA_VALUE);
    return wrapped.has(Expressions.NFTA_DATA_VALUE)
        ? Optional.of(Data.of(wrapped.bytes(Expressions.NFTA_DATA_VALUE)))
        : Optional.empty();
  }
}
