package ipmasq.netlink;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class AttributeReaderTest {
  private static final HexFormat HEX = HexFormat.of();

  @Test
  void readsWhatTheWriterWrote() throws Exception {
    MessageWriter writer = new MessageWriter().begin(7, 1).netfilter(2, 10);
    writer.u8(1, 0xfe).u16(2, 0xfedc).u32(3, 0xfedcba98L).u64(4, 0xfedcba9876543210L);
    writer.string(5, "größe").bytes(6, new byte[] {1, 2, 3});
    int nest = writer.nest(7);
    writer.u8(1, 9).end(nest);
    byte[] message = writer.message();

    MessageReader messages = new MessageReader(message, message.length);
    assertTrue(messages.next());
    assertEquals(7, messages.type());
    assertEquals(1, messages.flags());
    assertEquals(2, messages.family());
    AttributeReader attributes = messages.attributes();
    assertTrue(attributes.next());
    assertEquals(0xfe, attributes.u8());
    assertTrue(attributes.next());
    assertEquals(0xfedc, attributes.u16());
    assertTrue(attributes.next());
    assertEquals(0xfedcba98, attributes.u32());
    assertEquals(0x98badcfe, attributes.hostU32());
    assertTrue(attributes.next());
    assertEquals(0xfedcba9876543210L, attributes.u64());
    assertTrue(attributes.next());
    assertEquals("größe", attributes.string());
    assertTrue(attributes.next());
    assertArrayEquals(new byte[] {1, 2, 3}, attributes.bytes());
    assertTrue(attributes.next());
    assertEquals(7, attributes.type());
    AttributeReader nested = attributes.nested();
    assertTrue(nested.next());
    assertEquals(9, nested.u8());
    assertFalse(nested.next());
    assertFalse(attributes.next());
    assertFalse(messages.next());
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
    AttributeReader reader = over("05000100" + "07");
    assertTrue(reader.next());
    assertEquals(7, reader.u8());
    assertFalse(reader.next());
  }

  @Test
  void numbersOfTheWrongSize() throws Exception {
    AttributeReader reader = over("0600010000000000");
    assertTrue(reader.next());
    assertThrows(MalformedMessage.class, reader::u8);
    assertEquals(0, reader.u16());
    assertThrows(MalformedMessage.class, reader::u32);
    assertThrows(MalformedMessage.class, reader::u64);
    assertThrows(MalformedMessage.class, () -> reader.copyTo(new byte[3]));
  }

  @Test
  void textWithoutItsEnd() throws Exception {
    AttributeReader reader = over("0700010061626300");
    assertTrue(reader.next());
    assertEquals("abc", reader.string());
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
      MessageReader reader = new MessageReader(bytes, bytes.length);
      assertThrows(MalformedMessage.class, reader::next, hex);
    }
  }

  @Test
  void anErrorCutAnywhere() throws Exception {
    // -EPERM about a message of 20 bytes, capped, with a text
    String error = "ffffffff 14000000 00000000 00000000 00000000 0700 0100 6e6f0000";
    byte[] whole = HEX.parseHex(("2c000000 0200 0003 01000000 00000000" + error).replace(" ", ""));
    MessageReader reader = new MessageReader(whole, whole.length);
    assertTrue(reader.next());
    assertEquals(new Refusal(0, Errno.EPERM, "no", 0), Acknowledgement.of(reader, 0));
    for (int length = 16; length < whole.length; length++) {
      byte[] cut = java.util.Arrays.copyOf(whole, length);
      cut[0] = (byte) length;
      MessageReader of = new MessageReader(cut, length);
      assertTrue(of.next());
      try {
        assertEquals(Errno.EPERM, Acknowledgement.of(of, 0).errno());
      } catch (MalformedMessage expected) {
        assertFalse(expected.getMessage().isEmpty());
      }
    }
  }

  private static AttributeReader over(String hex) {
    byte[] bytes = HEX.parseHex(hex);
    return new AttributeReader(bytes, 0, bytes.length);
  }

  private static String complaint(String hex) {
    return assertThrows(MalformedMessage.class, over(hex)::next).getMessage();
  }
}
