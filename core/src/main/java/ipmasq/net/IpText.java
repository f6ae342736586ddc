package ipmasq.net;

import java.net.InetAddress;
import java.util.Optional;
import java.util.regex.Pattern;

/** Addresses as text: strict in what it reads, canonical in what it writes. */
final class IpText {
  private static final Pattern V6 =
      Pattern.compile("([0-9A-Fa-f]{0,4}:)+([0-9A-Fa-f]{0,4}|[0-9.]+)");

  private IpText() {}

  static Optional<Ip> parseV4(String text) {
    long value = v4(text, 0, text.length());
    return value < 0 ? Optional.empty() : Optional.of(new Ip(Family.IPV4, 0, value));
  }

  /** Four decimal octets without leading zeros in {@code text[from, to)}; -1 if there are none. */
  private static long v4(String text, int from, int to) {
    long value = 0;
    int octets = 0;
    int at = from;
    while (at < to) {
      int start = at;
      int octet = 0;
      while (at < to && text.charAt(at) >= '0' && text.charAt(at) <= '9' && at - start < 3) {
        octet = octet * 10 + text.charAt(at++) - '0';
      }
      boolean leadingZero = at - start > 1 && text.charAt(start) == '0';
      if (at == start || leadingZero || octet > 255 || ++octets > 4) {
        return -1;
      }
      value = value << 8 | octet;
      if (at < to && (text.charAt(at) != '.' || ++at == to)) {
        return -1;
      }
    }
    return octets == 4 ? value : -1;
  }

  /** The JDK's parser also takes scopes, brackets, five digits and sloppy IPv4 at the end. */
  static Optional<Ip> parseV6(String text) {
    int tail = text.lastIndexOf(':') + 1;
    boolean v4 = text.indexOf('.') >= 0;
    if (!V6.matcher(text).matches() || v4 && v4(text, tail, text.length()) < 0) {
      return Optional.empty();
    }
    try {
      byte[] parsed = InetAddress.ofLiteral(text).getAddress();
      byte[] bytes = parsed.length == 16 ? parsed : mapped(parsed);
      return Optional.of(Ip.ofBytes(bytes));
    } catch (IllegalArgumentException malformed) {
      return Optional.empty();
    }
  }

  /** The JDK turns {@code ::ffff:a.b.c.d} into IPv4. */
  private static byte[] mapped(byte[] v4) {
    byte[] bytes = new byte[16];
    bytes[10] = bytes[11] = -1;
    System.arraycopy(v4, 0, bytes, 12, 4);
    return bytes;
  }

  static String print(Ip ip) {
    return ip.family() == Family.IPV4 ? printV4(ip.low()) : printV6(ip);
  }

  private static String printV4(long value) {
    return (value >>> 24)
        + "."
        + (value >>> 16 & 255)
        + "."
        + (value >>> 8 & 255)
        + "."
        + (value & 255);
  }

  /**
   * RFC 5952: lower case, no leading zeros, the first longest run of two or more zero groups cut.
   */
  private static String printV6(Ip ip) {
    int cut = -1;
    int cutLength = 1;
    for (int start = 0; start < 8; start++) {
      int end = start;
      while (end < 8 && group(ip, end) == 0) {
        end++;
      }
      if (end - start > cutLength) {
        cut = start;
        cutLength = end - start;
      }
    }
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 8; i++) {
      if (i == cut) {
        text.append("::");
        i += cutLength - 1;
      } else {
        if (!text.isEmpty() && text.charAt(text.length() - 1) != ':') {
          text.append(':');
        }
        text.append(Integer.toHexString(group(ip, i)));
      }
    }
    return text.toString();
  }

  private static int group(Ip ip, int i) {
    return (int) ((i < 4 ? ip.high() >>> 16 * (3 - i) : ip.low() >>> 16 * (7 - i)) & 0xffff);
  }
}
