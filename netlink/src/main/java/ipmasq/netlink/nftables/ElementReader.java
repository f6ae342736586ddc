package ipmasq.netlink.nftables;

import ipmasq.netlink.AttributeReader;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageReader;

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
      if (attributes.type() == ElementWriter.ELEMENTS) {
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
        case ElementWriter.KEY -> keyed = key(attributes.nested());
        case ElementWriter.FLAGS -> flags = attributes.u32();
        case ElementWriter.EXPRESSION -> counter = counter(attributes.nested(), counter);
        case ElementWriter.EXPRESSIONS -> {
          AttributeReader list = attributes.nested();
          while (list.next()) {
            counter = counter(list.nested(), counter);
          }
        }
        default -> {}
      }
    }
    if (keyed) { // the element that stands for all others has no key
      visitor.element(key, (flags & ElementWriter.END) != 0, counter);
    }
  }

  private boolean key(AttributeReader value) throws MalformedMessage {
    while (value.next()) {
      if (value.type() == ElementWriter.VALUE) {
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
