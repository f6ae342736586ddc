package ipmasq.netlink.nftables;

import java.nio.charset.StandardCharsets;

/** How the bytes of a field are shown. */
enum Format {
  ADDRESS,
  /** A number in network order. */
  NUMBER,
  /** A number in host order. */
  HOST,
  MARK,
  NAME,
  FAMILY,
  PROTOCOL,
  ADDRESS_TYPE,
  CT_STATE,
  CT_STATUS,
  CT_DIRECTION,
  HEX;

  private static final String[] STATES = {"invalid", "established", "related", "new"};
  private static final String[] STATUSES = {
    "expected", "seen-reply", "assured", "confirmed", "snat", "dnat"
  };

  String show(Data data) {
    return switch (this) {
      case ADDRESS -> data.length() == 16 ? AddressText.v6(data.bytes()) : AddressText.v4(data);
      case NUMBER -> data.length() > 8 ? data.toString() : Long.toUnsignedString(data.number());
      case HOST -> NUMBER.show(data.reversed());
      case MARK -> data.reversed().toString();
      case NAME -> name(data);
      case FAMILY ->
          switch ((int) data.number()) {
            case 2 -> "ipv4";
            case 10 -> "ipv6";
            default -> NUMBER.show(data);
          };
      case PROTOCOL ->
          switch ((int) data.number()) {
            case 1 -> "icmp";
            case 6 -> "tcp";
            case 17 -> "udp";
            case 58 -> "icmpv6";
            case 132 -> "sctp";
            default -> NUMBER.show(data);
          };
      case ADDRESS_TYPE ->
          switch ((int) data.reversed().number()) {
            case 1 -> "unicast";
            case 2 -> "local";
            case 3 -> "broadcast";
            case 5 -> "multicast";
            default -> HOST.show(data);
          };
      case CT_STATE -> bits(data, STATES);
      case CT_STATUS -> bits(data, STATUSES);
      case CT_DIRECTION -> data.number() == 0 ? "original" : "reply";
      case HEX -> data.toString();
    };
  }

  /** Whether a mask of it is a choice of bits with names. */
  boolean isBits() {
    return this == CT_STATE || this == CT_STATUS;
  }

  private static String name(Data data) {
    byte[] bytes = data.bytes();
    int end = 0;
    while (end < bytes.length && bytes[end] != 0) {
      end++;
    }
    String text = new String(bytes, 0, end, StandardCharsets.UTF_8);
    return end < bytes.length ? '"' + text + '"' : '"' + text + "*\"";
  }

  private static String bits(Data data, String[] names) {
    long rest = data.reversed().number();
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < names.length; i++) {
      if ((rest & 1L << i) != 0) {
        text.append(text.isEmpty() ? "" : ",").append(names[i]);
        rest &= ~(1L << i);
      }
    }
    return text.isEmpty() || rest != 0 ? MARK.show(data) : text.toString();
  }
}
