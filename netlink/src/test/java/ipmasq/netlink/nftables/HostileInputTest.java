package ipmasq.netlink.nftables;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.netlink.Data;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.Message;
import ipmasq.netlink.MessageWriter;
import ipmasq.netlink.nftables.Expression.Unknown;
import ipmasq.netlink.nftables.Statement.Verdict;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Whatever bytes come, readers read them or say that they are malformed, and nothing else. */
class HostileInputTest {
  private static final Table TABLE =
      new Table(TableFamily.INET, "masq").with(Table.Flag.OWNER).commented("a table");
  private static final NftSet SET =
      NftSet.intervals(TABLE, "keep4", KeyType.IPV4_ADDR).withCounters();

  private static List<byte[]> messages() {
    List<byte[]> messages = new ArrayList<>();
    MessageWriter out = new MessageWriter();
    for (Rule rule : Samples.rules()) {
      rule.write(begin(out));
      messages.add(out.message());
    }
    TABLE.write(begin(out));
    messages.add(out.message());
    new Chain(TABLE, "post", "nat", Hook.POSTROUTING, 90).write(begin(out));
    messages.add(out.message());
    SET.write(begin(out), 1);
    messages.add(out.message());
    Element.write(
        begin(out), SET, Addresses.ranges("10.0.0.0-10.0.0.9", "240.0.0.0-255.255.255.255"));
    messages.add(out.message());
    return messages;
  }

  private static MessageWriter begin(MessageWriter out) {
    return out.begin(0, 0).netfilter(TableFamily.INET.number(), 0);
  }

  /** Reads bytes as every kind of object and says how many readers took them. */
  private static int readAll(byte[] bytes) {
    int taken = 0;
    for (Reader reader : READERS) {
      try {
        for (Message message : Message.in(bytes, bytes.length)) {
          assertFalse(reader.read(message).isEmpty());
        }
        taken++;
      } catch (MalformedMessage malformed) {
        assertFalse(malformed.getMessage().isEmpty());
      }
    }
    return taken;
  }

  private interface Reader {
    String read(Message message) throws MalformedMessage;
  }

  private static final List<Reader> READERS =
      List.of(
          message -> Table.read(message).toString(),
          message -> Chain.read(message).toString(),
          message -> NftSet.read(message).toString(),
          message -> "rule " + Rule.read(message).expressions(),
          message -> {
            List<Element> elements = new ArrayList<>();
            Element.read(message, elements::add);
            return "elements " + elements;
          });

  @Test
  void cutAtEveryByte() {
    for (byte[] whole : messages()) {
      assertTrue(readAll(whole) > 0);
      for (int length = 0; length < whole.length; length++) {
        byte[] cut = Arrays.copyOf(whole, length);
        readAll(cut);
        if (length >= 16) { // a header that says what is left, so that the attributes are cut
          cut[0] = (byte) length;
          cut[1] = (byte) (length >> 8);
          readAll(cut);
        }
      }
    }
  }

  @Test
  void everyByteSpoilt() {
    for (byte[] whole : messages()) {
      for (int at = 0; at < whole.length; at++) {
        for (int value : new int[] {0, 1, 0x7f, 0x80, 0xff}) {
          byte[] spoilt = whole.clone();
          spoilt[at] = (byte) value;
          readAll(spoilt);
        }
      }
    }
  }

  @Test
  void manyBytesSpoilt() {
    Random random = new Random(4711);
    List<byte[]> messages = messages();
    for (int i = 0; i < 20_000; i++) {
      byte[] spoilt = messages.get(random.nextInt(messages.size())).clone();
      for (int j = random.nextInt(8); j >= 0; j--) {
        spoilt[16 + random.nextInt(spoilt.length - 16)] = (byte) random.nextInt();
      }
      readAll(spoilt);
    }
  }

  @Test
  void noise() {
    Random random = new Random(815);
    for (int i = 0; i < 5_000; i++) {
      byte[] noise = new byte[random.nextInt(200)];
      random.nextBytes(noise);
      if (noise.length > 1) {
        noise[0] = (byte) noise.length;
        Arrays.fill(noise, 1, Math.min(4, noise.length), (byte) 0);
      }
      readAll(noise);
    }
  }

  @Test
  void expressionsOfTheFutureAreKept() throws Exception {
    Unknown future =
        new Unknown(
            "quantum",
            Data.of(
                (byte) 8, (byte) 0, (byte) 1, (byte) 0, (byte) 0, (byte) 0, (byte) 0, (byte) 7));
    // A known name with more to it: a meta expression that sets what nobody knows.
    Unknown setting =
        new Unknown(
            "meta",
            Data.of(
                (byte) 8, (byte) 0, (byte) 2, (byte) 0, (byte) 0, (byte) 0, (byte) 0, (byte) 99,
                (byte) 8, (byte) 0, (byte) 3, (byte) 0, (byte) 0, (byte) 0, (byte) 0, (byte) 1));
    Rule rule = new Rule(TableFamily.IP, "t", "c", List.of(future, setting, Verdict.DROP), "", 0);
    MessageWriter out = new MessageWriter().begin(0, 0).netfilter(TableFamily.IP.number(), 0);
    rule.write(out);
    byte[] bytes = out.message();
    assertEquals(rule, Rule.read(Message.in(bytes, bytes.length).getFirst()));
  }

  @Test
  void commentsThatAreSomethingElse() {
    assertEquals("", Userdata.comment(new byte[] {}, 0));
    assertEquals("", Userdata.comment(new byte[] {0}, 0));
    assertEquals("", Userdata.comment(new byte[] {0, 5, 'a'}, 0));
    assertEquals("", Userdata.comment(new byte[] {0, 0}, 0));
    assertEquals("", Userdata.comment(new byte[] {1, 2, 'a', 0}, 0));
    assertEquals("a", Userdata.comment(new byte[] {1, 0, 0, 2, 'a', 0}, 0));
  }

  /** A comment that is read can be written again: what could not is taken for none. */
  @Test
  void whatIsNoTextIsNoComment() {
    assertEquals("kept", Userdata.comment(record("kept".getBytes(UTF_8)), 0));
    assertEquals("", Userdata.comment(record(new byte[] {'a', (byte) 0xff, 'b'}), 0));
    assertEquals("", Userdata.comment(record("x".repeat(200).getBytes(UTF_8)), 0));
    assertEquals("", Userdata.comment(new byte[] {0, 9, 'c', 'u', 't'}, 0));
  }

  private static byte[] record(byte[] text) {
    byte[] record = new byte[text.length + 3];
    record[1] = (byte) (text.length + 1);
    System.arraycopy(text, 0, record, 2, text.length);
    return record;
  }
}
