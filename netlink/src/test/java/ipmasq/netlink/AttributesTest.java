package ipmasq.netlink;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ipmasq.netlink.NetlinkFailure.Refused;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class AttributesTest {
  private static final HexFormat HEX = HexFormat.of();

  @Test
  void readsWhatTheWriterWrote() throws Exception {
    MessageWriter writer = new MessageWriter().begin(7, 1).netfilter(2, 10);
    writer.u8(1, 0xfe).u16(2, 0xfedc).u32(3, 0xfedcba98L).u64(4, 0xfedcba9876543210L);
    writer.string(5, "größe").bytes(6, new byte[] {1, 2, 3});
    int nest = writer.nest(7);
    writer.u8(1, 9).end(nest);
    byte[] message = writer.message();

    List<Message> messages = Message.in(message, message.length);
    assertEquals(1, messages.size());
    assertEquals(7, messages.getFirst().type());
    assertEquals(1, messages.getFirst().flags());
    assertEquals(2, messages.getFirst().family());
    assertEquals(10, messages.getFirst().resource());
    Attributes attributes = messages.getFirst().attributes();
    assertEquals(Set.of(1, 2, 3, 4, 5, 6, 7), attributes.types());
    assertEquals(0xfe, attributes.u8(1));
    assertEquals(0xfedc, attributes.u16(2));
    assertEquals(0xfedcba98, attributes.u32(3));
    assertEquals(0x98badcfe, attributes.hostU32(3));
    assertEquals(0xfedcba9876543210L, attributes.u64(4));
    assertEquals("größe", attributes.string(5));
    assertArrayEquals(new byte[] {1, 2, 3}, attributes.bytes(6));
    assertEquals(9, attributes.nested(7).u8(1));
    assertEquals(Set.of(1), attributes.nested(7).types());
  }

  @Test
  void theBytesOnTheWire() {
    MessageWriter writer = new MessageWriter().begin(0xa00, 0x401).netfilter(1, 10);
    writer.string(1, "masq").u16(2, 0x1234);
    int nest = writer.nest(3);
    writer.u8(1, 5).end(nest);
    assertEquals(
        """
        34000000 000a 0104 00000000 00000000 01 00 000a \
        0900 0100 6d61737100000000 0600 0200 12340000 0c00 0380 0500 0100 05000000"""
            .replace(" ", ""),
        HEX.formatHex(writer.message()));
  }

  @Test
  void lengthsThatLie() {
    assertEquals("3 bytes where an attribute should begin", complaint("040001"));
    assertEquals("an attribute of 3 bytes in 4", complaint("03000100"));
    assertEquals("an attribute of 9 bytes in 8", complaint("0900010000000000"));
    assertEquals("an attribute of 65535 bytes in 4", complaint("ffff0100"));
  }

  @Test
  void theLastOneMayLackItsPadding() throws Exception {
    assertEquals(7, over("05000100" + "07").u8(1));
  }

  @Test
  void numbersOfTheWrongSize() throws Exception {
    Attributes attributes = over("0600010000000000");
    assertThrows(MalformedMessage.class, () -> attributes.u8(1));
    assertEquals(0, attributes.u16(1));
    assertThrows(MalformedMessage.class, () -> attributes.u32(1));
    assertThrows(MalformedMessage.class, () -> attributes.u64(1));
  }

  @Test
  void whatIsMissing() throws Exception {
    Attributes none = over("");
    assertThrows(MalformedMessage.class, () -> none.bytes(1));
    assertEquals(5, none.u32(1, 5));
    assertEquals(Set.of(), none.nested(1).types());
    assertEquals(List.of(), none.list(1));
  }

  @Test
  void textWithoutItsEnd() throws Exception {
    assertEquals("abc", over("0700010061626300").string(1));
  }

  @Test
  void messagesThatLie() {
    for (String hex :
        new String[] {
          "1000",
          "0f000000000000000000000000000000",
          "11000000000000000000000000000000",
          "ffffffff000000000000000000000000",
          "ffffff7f000000000000000000000000"
        }) {
      byte[] bytes = HEX.parseHex(hex);
      assertThrows(MalformedMessage.class, () -> Message.in(bytes, bytes.length), hex);
    }
  }

  @Test
  void anErrorCutAnywhere() throws Exception {
    // -EPERM about a message of 20 bytes, capped, with a text
    String error = "ffffffff 14000000 00000000 00000000 00000000 0700 0100 6e6f0000";
    byte[] whole = HEX.parseHex(("2c000000 0200 0003 01000000 00000000" + error).replace(" ", ""));
    assertEquals(
        new Refused(0, Errno.EPERM, "no"),
        Refused.read(Message.in(whole, whole.length).getFirst(), 0));
    for (int length = 16; length < whole.length; length++) {
      byte[] cut = java.util.Arrays.copyOf(whole, length);
      cut[0] = (byte) length;
      Message message = Message.in(cut, length).getFirst();
      try {
        assertEquals(Errno.EPERM, Refused.read(message, 0).errno());
      } catch (MalformedMessage expected) {
        assertFalse(expected.getMessage().isEmpty());
      }
    }
  }

  private static Attributes over(String hex) throws MalformedMessage {
    return new Attributes(HEX.parseHex(hex));
  }

  private static String complaint(String hex) {
    return assertThrows(MalformedMessage.class, () -> over(hex)).getMessage();
  }
}
