package ipmasq.netlink.nftables;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.netlink.Data;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.Message;
import ipmasq.netlink.MessageWriter;
import ipmasq.netlink.nftables.Compute.Byteorder;
import ipmasq.netlink.nftables.Compute.Immediate;
import ipmasq.netlink.nftables.Compute.Numgen;
import ipmasq.netlink.nftables.Load.Fib;
import ipmasq.netlink.nftables.Load.Meta;
import ipmasq.netlink.nftables.Match.Cmp;
import ipmasq.netlink.nftables.Statement.Masquerade;
import ipmasq.netlink.nftables.Statement.NatFlag;
import ipmasq.netlink.nftables.Statement.Verdict;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * The bytes that {@code nft} 1.0.6 sends for the line above each test, recorded once. An attribute
 * a line: length, type, value; those in another one stand further in.
 */
class RecordedBytesTest {
  private static final Table TABLE = new Table(TableFamily.INET, "masq").commented("a table");
  private static final Chain CHAIN = new Chain(TABLE, "post", "nat", Hook.POSTROUTING, 90);

  // add table inet masq { comment "a table"; }
  @Test
  void table() throws Exception {
    both(
        """
            01000000
            0900 0100 6d61737100000000
            0800 0200 00000000
            0e00 0600 000861207461626c65000000
            """,
        TABLE::write,
        Table::read,
        TABLE);
  }

  // add chain inet masq post
  //   { type nat hook postrouting priority 90; policy accept; }
  @Test
  void chain() throws Exception {
    both(
        """
            01000000
            0900 0100 6d61737100000000
            0900 0300 706f737400000000
            0800 0700 6e617400
            0800 0500 00000001
            1400 0480
              0800 0100 00000004
              0800 0200 0000005a
            """,
        CHAIN::write,
        Chain::read,
        CHAIN);
  }

  // add set inet masq keep4 { type ipv4_addr; flags interval; comment "s"; }
  @Test
  void set() throws Exception {
    NftSet set = NftSet.intervals(TABLE, "keep4", KeyType.IPV4_ADDR).commented("s");
    both(
        """
            01000000
            0900 0100 6d61737100000000
            0a00 0200 6b65657034000000
            0800 0300 00000004
            0800 0400 00000007
            0800 0500 00000004
            0800 0a00 00000001
            0e00 0d00 000402000000070273000000
            """,
        out -> set.write(out, 1),
        NftSet::read,
        set);
  }

  // add rule inet masq post fib daddr type local return
  @Test
  void localDestination() throws Exception {
    rule(
        """
            01000000
            0900 0100 6d61737100000000
            0900 0200 706f737400000000
            8800 0480
              2800 0180
                0800 0100 66696200
                1c00 0280
                  0800 0300 00000002
                  0800 0200 00000003
                  0800 0100 00000001
              2c00 0180
                0800 0100 636d7000
                2000 0280
                  0800 0100 00000001
                  0800 0200 00000000
                  0c00 0380
                    0800 0100 02000000
              3000 0180
                0e00 0100 696d6d656469617465000000
                1c00 0280
                  0800 0100 00000000
                  1000 0280
                    0c00 0280
                      0800 0100 fffffffb
            """,
        new Rule(CHAIN, Fib.destinationType(), Cmp.eq(Fib.LOCAL), Verdict.RETURN));
  }

  // add rule inet masq post meta l4proto tcp numgen random mod 100 < 47
  //   masquerade to :1024-29999 fully-random
  @Test
  void portsInTurn() throws Exception {
    rule(
        """
            01000000
            0900 0100 6d61737100000000
            0900 0200 706f737400000000
            7801 0480
              2400 0180
                0900 0100 6d65746100000000
                1400 0280
                  0800 0200 00000010
                  0800 0100 00000001
              2c00 0180
                0800 0100 636d7000
                2000 0280
                  0800 0100 00000001
                  0800 0200 00000000
                  0c00 0380
                    0500 0100 06000000
              3400 0180
                0b00 0100 6e756d67656e0000
                2400 0280
                  0800 0100 00000001
                  0800 0200 00000064
                  0800 0300 00000001
                  0800 0400 00000000
              4000 0180
                0e00 0100 627974656f72646572000000
                2c00 0280
                  0800 0100 00000001
                  0800 0200 00000001
                  0800 0300 00000001
                  0800 0400 00000004
                  0800 0500 00000004
              2c00 0180
                0800 0100 636d7000
                2000 0280
                  0800 0100 00000001
                  0800 0200 00000002
                  0c00 0380
                    0800 0100 0000002f
              2c00 0180
                0e00 0100 696d6d656469617465000000
                1800 0280
                  0800 0100 00000001
                  0c00 0280
                    0600 0100 04000000
              2c00 0180
                0e00 0100 696d6d656469617465000000
                1800 0280
                  0800 0100 00000002
                  0c00 0280
                    0600 0100 752f0000
              2c00 0180
                0900 0100 6d61737100000000
                1c00 0280
                  0800 0100 00000012
                  0800 0200 00000001
                  0800 0300 00000002
            """,
        new Rule(
            CHAIN,
            new Meta(Meta.Key.L4PROTO),
            Cmp.eq(Data.u8(6)),
            Numgen.random(100),
            Byteorder.toNetwork(1),
            new Cmp(1, Cmp.Operator.LT, Data.u32(47)),
            new Immediate(1, Data.u16(1024)),
            new Immediate(2, Data.u16(29999)),
            new Masquerade(Set.of(NatFlag.FULLY_RANDOM), 1, 2)));
  }

  // add rule inet masq post ip saddr 10.1.0.0/16 meta l4proto udp oifname "eth0" oifname != "wg*"
  //   snat ip to 192.0.2.1-192.0.2.3:1024-2000 random
  @Test
  void anotherAddress() throws Exception {
    rule(
        """
            01000000
            0900 0100 6d61737100000000
            0900 0200 706f737400000000
            a802 0480
              2400 0180
                0900 0100 6d65746100000000
                1400 0280
                  0800 0200 0000000f
                  0800 0100 00000001
              2c00 0180
                0800 0100 636d7000
                2000 0280
                  0800 0100 00000001
                  0800 0200 00000000
                  0c00 0380
                    0500 0100 02000000
              3400 0180
                0c00 0100 7061796c6f616400
                2400 0280
                  0800 0100 00000001
                  0800 0200 00000001
                  0800 0300 0000000c
                  0800 0400 00000002
              2c00 0180
                0800 0100 636d7000
                2000 0280
                  0800 0100 00000001
                  0800 0200 00000000
                  0c00 0380
                    0600 0100 0a010000
              2400 0180
                0900 0100 6d65746100000000
                1400 0280
                  0800 0200 00000010
                  0800 0100 00000001
              2c00 0180
                0800 0100 636d7000
                2000 0280
                  0800 0100 00000001
                  0800 0200 00000000
                  0c00 0380
                    0500 0100 11000000
              2400 0180
                0900 0100 6d65746100000000
                1400 0280
                  0800 0200 00000007
                  0800 0100 00000001
              3800 0180
                0800 0100 636d7000
                2c00 0280
                  0800 0100 00000001
                  0800 0200 00000000
                  1800 0380
                    1400 0100 65746830000000000000000000000000
              2400 0180
                0900 0100 6d65746100000000
                1400 0280
                  0800 0200 00000007
                  0800 0100 00000001
              2c00 0180
                0800 0100 636d7000
                2000 0280
                  0800 0100 00000001
                  0800 0200 00000001
                  0c00 0380
                    0600 0100 77670000
              2c00 0180
                0e00 0100 696d6d656469617465000000
                1800 0280
                  0800 0100 00000001
                  0c00 0280
                    0800 0100 c0000201
              2c00 0180
                0e00 0100 696d6d656469617465000000
                1800 0280
                  0800 0100 00000002
                  0c00 0280
                    0800 0100 c0000203
              2c00 0180
                0e00 0100 696d6d656469617465000000
                1800 0280
                  0800 0100 00000003
                  0c00 0280
                    0600 0100 04000000
              2c00 0180
                0e00 0100 696d6d656469617465000000
                1800 0280
                  0800 0100 00000004
                  0c00 0280
                    0600 0100 07d00000
              4800 0180
                0800 0100 6e617400
                3c00 0280
                  0800 0100 00000000
                  0800 0200 00000002
                  0800 0300 00000001
                  0800 0400 00000002
                  0800 0500 00000003
                  0800 0600 00000004
                  0800 0700 00000006
            """,
        Samples.rules().get(4));
  }

  // A set of ranges that nft would fill with numbers of its own for the list's entries.
  @Test
  void elements() {
    NftSet set = NftSet.intervals(TABLE, "keep4", KeyType.IPV4_ADDR);
    MessageWriter out = begin();
    Element.write(
        out, set, Addresses.ranges("10.0.0.0-10.255.255.255", "240.0.0.0-255.255.255.255"));
    assertEquals(
        """
        01000000
        0900 0100 6d61737100000000
        0a00 0200 6b65657034000000
        3c00 0380
          1000 0180
            0c00 0180
              0800 0100 0a000000
          1800 0180
            0800 0300 00000001
            0c00 0180
              0800 0100 0b000000
          1000 0180
            0c00 0180
              0800 0100 f0000000
        """,
        text(out));
  }

  // A commit confirms its last step.
  @Test
  void batch() {
    assertEquals(
        List.of(
            "140000001000010000000000000000000000000a",
            "38000000000a05040000000000000000"
                + "01000000090001006d6173710000000008000200000000000e000600000861207461626c65000000",
            "140000001100010000000000000000000000000a"),
        new Batch().add(TABLE).messages().stream().map(HexFormat.of()::formatHex).toList());
  }

  private interface Reader<T> {
    T read(Message message) throws MalformedMessage;
  }

  private static <T> void both(
      String golden, Consumer<MessageWriter> write, Reader<T> read, T value) throws Exception {
    MessageWriter out = begin();
    write.accept(out);
    assertEquals(golden, text(out));
    byte[] message = out.message();
    assertEquals(value, read.read(Message.in(message, message.length).getFirst()));
  }

  private static void rule(String golden, Rule rule) throws Exception {
    both(golden, rule::write, Rule::read, rule);
  }

  private static MessageWriter begin() {
    return new MessageWriter().begin(0, 0).netfilter(TableFamily.INET.number(), 0);
  }

  private static String text(MessageWriter out) {
    byte[] message = out.message();
    StringBuilder text = new StringBuilder();
    text.append(HexFormat.of().formatHex(message, 16, 20)).append('\n');
    lines(text, "", message, 20, message.length);
    return text.toString();
  }

  private static void lines(StringBuilder text, String indent, byte[] bytes, int from, int to) {
    for (int at = from; at < to; ) {
      int length = bytes[at] & 0xff | (bytes[at + 1] & 0xff) << 8;
      int end = at + (length + 3 & ~3);
      HexFormat hex = HexFormat.of();
      text.append(indent).append(hex.formatHex(bytes, at, at + 2)).append(' ');
      text.append(hex.formatHex(bytes, at + 2, at + 4));
      if (bytes[at + 3] < 0) {
        lines(text.append('\n'), indent + "  ", bytes, at + 4, end);
      } else {
        text.append(' ').append(hex.formatHex(bytes, at + 4, end)).append('\n');
      }
      at = end;
    }
  }
}
