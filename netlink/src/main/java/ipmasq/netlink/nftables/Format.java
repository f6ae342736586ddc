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

  private static final int NFPROTO_IPV4 = 2;
  private static final int NFPROTO_IPV6 = 10;
  private static final int IPPROTO_ICMP = 1;
  private static final int IPPROTO_TCP = 6;
  private static final int IPPROTO_UDP = 17;
  private static final int IPPROTO_ICMPV6 = 58;
  private static final int IPPROTO_SCTP = 132;
  private static final int RTN_UNICAST = 1;
  private static final int RTN_LOCAL = 2;
  private static final int RTN_BROADCAST = 3;
  private static final int RTN_MULTICAST = 5;
  private static final int IP_CT_DIR_ORIGINAL = 0;
  private static final String[] STATES = {"invalid", "established", "related", "new"};
  private static final String[] STATUSES = {
    "expected", "seen-reply", "assured", "confirmed", "snat", "dnat"
  };

  String show(Data data) {
    return switch (this) {
      case ADDRESS -> data.address();
      case NUMBER -> data.length() > 8 ? data.toString() : Long.toUnsignedString(data.number());
      case HOST -> NUMBER.show(data.reversed());
      case MARK -> data.reversed().toString();
      case NAME -> name(data);
      case FAMILY ->
          switch ((int) data.number()) {
            case NFPROTO_IPV4 -> "ipv4";
            case NFPROTO_IPV6 -> "ipv6";
            default -> NUMBER.show(data);
          };
      case PROTOCOL ->
          switch ((int) data.number()) {
            case IPPROTO_ICMP -> "icmp";
            case IPPROTO_TCP -> "tcp";
            case IPPROTO_UDP -> "udp";
            case IPPROTO_ICMPV6 -> "icmpv6";
            case IPPROTO_SCTP -> "sctp";
            default -> NUMBER.show(data);
          };
      case ADDRESS_TYPE ->
          switch ((int) data.reversed().number()) {
            case RTN_UNICAST -> "unicast";
            case RTN_LOCAL -> "local";
            case RTN_BROADCAST -> "broadcast";
            case RTN_MULTICAST -> "multicast";
            default -> HOST.show(data);
          };
      case CT_STATE -> bits(data, STATES);
      case CT_STATUS -> bits(data, STATUSES);
      case CT_DIRECTION -> data.number() == IP_CT_DIR_ORIGINAL ? "original" : "reply";
      case HEX -> data.toString();
    };
  }

  /** Whether it consists of named bits. */
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
