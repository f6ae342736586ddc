package ipmasq.hook.nftables;

import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.netlink.nftables.Xtables;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The structure of a match or target of iptables, and words for what is in it. */
record XtInfo(ByteBuffer bytes, Family family) {
  XtInfo(Xtables xtables, Family family) {
    this(ByteBuffer.wrap(xtables.info().bytes()).order(ByteOrder.nativeOrder()), family);
  }

  int u8(int at) {
    return bytes.get(at) & 0xff;
  }

  int u16(int at) {
    return bytes.getShort(at) & 0xffff;
  }

  /** In network order. */
  int port(int at) {
    return u8(at) << 8 | u8(at + 1);
  }

  long u32(int at) {
    return bytes.getInt(at) & 0xffff_ffffL;
  }

  Ip address(int at) {
    if (at + family.bytes() > bytes.limit()) {
      throw new IndexOutOfBoundsException(at);
    }
    return Ip.ofBytes(Arrays.copyOfRange(bytes.array(), at, at + family.bytes()));
  }

  /** Up to the first zero, or the end of the field. */
  String string(int at, int length) {
    int end = at;
    while (end < Math.min(at + length, bytes.limit()) && u8(end) != 0) {
      end++;
    }
    return new String(bytes.array(), at, end - at, StandardCharsets.UTF_8);
  }

  String hex(int at) {
    return "0x" + Long.toHexString(u32(at));
  }

  /** An option and its value, as iptables prints them after others. */
  static String option(boolean inverted, String text) {
    return (inverted ? " ! " : " ") + text;
  }

  static String range(long first, long last, String between) {
    return first == last ? "" + first : first + between + last;
  }

  /** {@code FIN,SYN}: the bits that are set, by their names. */
  static String names(long bits, String... names) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < names.length; i++) {
      if ((bits >> i & 1) != 0) {
        text.append(text.isEmpty() ? "" : ",").append(names[i]);
      }
    }
    return text.isEmpty() ? "NONE" : text.toString();
  }

  /** iptables quotes all but the plainest words. */
  static String quoted(String text) {
    boolean plain = !text.isEmpty() && text.chars().allMatch(XtInfo::isPlain);
    return plain ? text : '"' + text.replaceAll("([\"'\\\\])", "\\\\$1") + '"';
  }

  private static boolean isPlain(int c) {
    return c >= 'a' && c <= 'z'
        || c >= 'A' && c <= 'Z'
        || c >= '0' && c <= '9'
        || "_-".indexOf(c) >= 0;
  }
}
