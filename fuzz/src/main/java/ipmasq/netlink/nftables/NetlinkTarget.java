package ipmasq.netlink.nftables;

import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageReader;
import java.util.List;

/** Whatever bytes come from the socket, they are read, or said to be malformed. */
public final class NetlinkTarget {
  private static final NftSet SET =
      NftSet.intervals(new Table(TableFamily.INET, "t"), "s", KeyType.IPV4_ADDR);

  private NetlinkTarget() {}

  private interface Reader {
    Object read(MessageReader message) throws MalformedMessage;
  }

  private static final List<Reader> READERS =
      List.of(
          Table::read,
          Chain::read,
          NftSet::read,
          message -> {
            Rule rule = Rule.read(message);
            return rule + new RuleBytes(rule).text();
          },
          message -> {
            new ElementReader(SET, new RangeAssembler(SET, (_, _) -> {})).read(message);
            return "elements";
          });

  /** What was read can be written again. */
  private record RuleBytes(Rule rule) {
    String text() {
      var out = new ipmasq.netlink.MessageWriter().begin(0, 0).netfilter(1, 0);
      rule.write(out, 0);
      return String.valueOf(out.message().length);
    }
  }

  public static void fuzzerTestOneInput(byte[] data) {
    for (Reader reader : READERS) {
      try {
        MessageReader message = new MessageReader(data, data.length);
        while (message.next()) {
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
