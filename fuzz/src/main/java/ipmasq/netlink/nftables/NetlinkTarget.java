package ipmasq.netlink.nftables;

import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.Message;
import java.util.ArrayList;
import java.util.List;

/** Whatever bytes come from the socket, they are read, or said to be malformed. */
public final class NetlinkTarget {
  private NetlinkTarget() {}

  private interface Reader {
    Object read(Message message) throws MalformedMessage;
  }

  private static final List<Reader> READERS =
      List.of(
          Table::read,
          Chain::read,
          NftSet::read,
          message -> {
            Rule rule = Rule.read(message);
            return rule.expressions() + new RuleBytes(rule).text();
          },
          message -> {
            List<Element> elements = new ArrayList<>();
            Element.read(message, elements::add);
            return elements;
          });

  /** What was read can be written again. */
  private record RuleBytes(Rule rule) {
    String text() {
      var out = new ipmasq.netlink.MessageWriter().begin(0, 0).netfilter(1, 0);
      rule.write(out);
      return String.valueOf(out.message().length);
    }
  }

  public static void fuzzerTestOneInput(byte[] data) {
    for (Reader reader : READERS) {
      try {
        for (Message message : Message.in(data, data.length)) {
          if (reader.read(message).toString().isEmpty()) {
            throw new AssertionError("nothing");
          }
        }
      } catch (MalformedMessage malformed) {
        // Said so.
      }
    }
  }
}
