package ipmasq.netlink.conntrack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.Message;
import ipmasq.netlink.MessageWriter;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class FlowTest {
  private static byte[] message() {
    MessageWriter out = new MessageWriter().begin(1 << 8, 0).netfilter(2, 0);
    tuple(out, 1, new byte[] {10, 0, 0, 1}, new byte[] {1, 1, 1, 1}, 5000, 53);
    tuple(out, 2, new byte[] {1, 1, 1, 1}, new byte[] {(byte) 192, 0, 2, 1}, 53, 6000);
    return out.u32(3, 0x10).u32(8, 7).u32(12, 99).u16(18, 3).message();
  }

  private static void tuple(
      MessageWriter out, int type, byte[] from, byte[] to, int fromPort, int toPort) {
    int tuple = out.nest(type);
    int ip = out.nest(1);
    out.bytes(1, from).bytes(2, to).end(ip);
    int protocol = out.nest(2);
    out.u8(1, 17).u16(2, fromPort).u16(3, toPort).end(protocol).end(tuple);
  }

  private static Flow read(byte[] message) throws MalformedMessage {
    List<Message> messages = Message.in(message, message.length);
    if (messages.isEmpty()) {
      throw new MalformedMessage("nothing");
    }
    return Flow.read(messages.getFirst());
  }

  @Test
  void whatTheKernelSays() throws Exception {
    Flow flow = read(message());
    assertEquals(
        "10.0.0.1:5000 > 1.1.1.1:53, answered 1.1.1.1:53 > 192.0.2.1:6000", FlowText.of(flow));
    assertTrue(flow.isSourceTranslated());
    MessageWriter named = new MessageWriter();
    flow.name(named);
    // The original direction, the number and the zone.
    assertEquals(4 + 20 + 28 + 8 + 8, named.length());
  }

  @Test
  void cutAtEveryByteAndSpoilt() {
    byte[] whole = message();
    for (int length = 0; length < whole.length; length++) {
      byte[] cut = Arrays.copyOf(whole, length);
      if (length > 0) {
        cut[0] = (byte) length;
      }
      readOrRefuse(cut);
    }
    for (int at = 0; at < whole.length; at++) {
      for (int value = 0; value < 256; value++) {
        byte[] spoilt = whole.clone();
        spoilt[at] = (byte) value;
        readOrRefuse(spoilt);
      }
    }
  }

  private static void readOrRefuse(byte[] bytes) {
    try {
      assertFalse(FlowText.of(read(bytes)).isEmpty());
    } catch (MalformedMessage malformed) {
      assertFalse(malformed.getMessage().isEmpty());
    }
  }
}
