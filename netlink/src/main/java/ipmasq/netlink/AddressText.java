package ipmasq.netlink;

/** Addresses as people write them. */
public final class AddressText {
  private AddressText() {}

  /** The text of an address in network order: 4 or 16 bytes. */
  public static String of(byte[] address) {
    return switch (address.length) {
      case 4 -> v4(address);
      case 16 -> v6(address);
      default -> throw new IllegalArgumentException("an address of " + address.length + " bytes");
    };
  }

  private static String v4(byte[] bytes) {
    return (bytes[0] & 0xff)
        + "."
        + (bytes[1] & 0xff)
        + "."
        + (bytes[2] & 0xff)
        + "."
        + (bytes[3] & 0xff);
  }

  /** In the shortest form: the first of the longest runs of zeros becomes two colons. */
  private static String v6(byte[] bytes) {
    int[] groups = new int[8];
    for (int i = 0; i < 8; i++) {
      groups[i] = (bytes[2 * i] & 0xff) << 8 | bytes[2 * i + 1] & 0xff;
    }
    int run = -1;
    int length = 1; // a single zero stays
    for (int i = 0; i < 8; i++) {
      int end = i;
      while (end < 8 && groups[end] == 0) {
        end++;
      }
      if (end - i > length) {
        run = i;
        length = end - i;
      }
    }
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 8; i++) {
      if (i == run) {
        text.append("::");
        i += length - 1;
      } else {
        text.append(i == 0 || i == run + length && run >= 0 ? "" : ":");
        text.append(Integer.toHexString(groups[i]));
      }
    }
    return text.toString();
  }
}
