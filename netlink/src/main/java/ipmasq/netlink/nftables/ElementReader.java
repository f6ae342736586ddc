package ipmasq.netlink.nftables;

import ipmasq.netlink.AttributeReader;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageReader;
import ipmasq.netlink.nftables.Statement.Counter;

/** Reads the messages of a list of elements without an object for each. Used by one thread. */
final class ElementReader {
  private static final Counter NOTHING = new Counter(0, 0);

  private final byte[] key;
  private final ElementVisitor visitor;

  ElementReader(NftSet set, ElementVisitor visitor) {
    this.key = new byte[set.key().length()];
    this.visitor = visitor;
  }

  void read(MessageReader message) throws MalformedMessage {
    AttributeReader attributes = message.attributes();
    while (attributes.next()) {
      if (attributes.type() == ElementWriter.NFTA_SET_ELEM_LIST_ELEMENTS) {
        AttributeReader list = attributes.nested();
        while (list.next()) {
          element(list.nested());
        }
      }
    }
  }

  private void element(AttributeReader attributes) throws MalformedMessage {
    boolean keyed = false;
    int flags = 0;
    Counter counter = NOTHING;
    while (attributes.next()) {
      switch (attributes.type()) {
        case ElementWriter.NFTA_SET_ELEM_KEY -> keyed = key(attributes.nested());
        case ElementWriter.NFTA_SET_ELEM_FLAGS -> flags = attributes.u32();
        case ElementWriter.NFTA_SET_ELEM_EXPR -> counter = counter(attributes.nested(), counter);
        case ElementWriter.NFTA_SET_ELEM_EXPRESSIONS -> {
          AttributeReader list = attributes.nested();
          while (list.next()) {
            counter = counter(list.nested(), counter);
          }
        }
        default -> {}
      }
    }
    if (keyed) { // the catch-all element has no key
      visitor.element(key, (flags & ElementWriter.NFT_SET_ELEM_INTERVAL_END) != 0, counter);
    }
  }

  private boolean key(AttributeReader value) throws MalformedMessage {
    while (value.next()) {
      if (value.type() == Expressions.NFTA_DATA_VALUE) {
        value.copyTo(key);
        return true;
      }
    }
    return false;
  }

  private static Counter counter(AttributeReader expression, Counter otherwise)
      throws MalformedMessage {
    return Expressions.read(expression) instanceof Counter counter ? counter : otherwise;
  }
}
