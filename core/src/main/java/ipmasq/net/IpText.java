package ipmasq.net;

import java.util.Optional;

/** Addresses as text: strict in what it reads, canonical in what it writes. */
final class IpText {
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

  static Optional<Ip> parseV6(String text) {
    int[] groups = new int[8];
    int count = 0;
    int gap = -1; // how many groups come before "::"
    int at = 0;
    if (text.startsWith("::")) {
      gap = 0;
      at = 2;
    }
    while (at < text.length()) {
      if (count == 8) {
        return Optional.empty();
      }
      int start = at;
      int group = 0;
      while (at < text.length() && Character.digit(text.charAt(at), 16) >= 0 && at - start < 4) {
        if (text.charAt(at) > 'f') {
          return Optional.empty(); // a digit of another script
        }
        group = group << 4 | Character.digit(text.charAt(at++), 16);
      }
      if (at < text.length() && text.charAt(at) == '.') {
        // The last 32 bits may be written as IPv4.
        long v4 = v4(text, start, text.length());
        if (v4 < 0 || count > 6) {
          return Optional.empty();
        }
        groups[count++] = (int) (v4 >>> 16);
        groups[count++] = (int) (v4 & 0xffff);
        at = text.length();
        break;
      }
      if (at == start) {
        return Optional.empty();
      }
      groups[count++] = group;
      if (at == text.length()) {
        break;
      }
      if (text.charAt(at++) != ':' || at == text.length()) {
        return Optional.empty();
      }
      if (text.charAt(at) == ':') {
        if (gap >= 0) {
          return Optional.empty();
        }
        gap = count;
        at++;
      }
    }
    if (gap < 0 ? count != 8 : count == 8) {
      return Optional.empty();
    }
    return Optional.of(join(groups, count, gap));
  }

  private static Ip join(int[] groups, int count, int gap) {
    long high = 0;
    long low = 0;
    for (int i = 0; i < 8; i++) {
      int missing = 8 - count;
      int group = gap < 0 || i < gap ? groups[i] : i < gap + missing ? 0 : groups[i - missing];
      high = i < 4 ? high << 16 | group : high;
      low = i >= 4 ? low << 16 | group : low;
    }
    return new Ip(Family.IPV6, high, low);
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
