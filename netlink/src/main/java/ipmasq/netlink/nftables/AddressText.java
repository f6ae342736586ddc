package ipmasq.netlink.nftables;

/** Addresses as people write them. */
final class AddressText {
  private AddressText() {}

  static String v4(Data data) {
    if (data.length() != 4) {
      return data.toString();
    }
    byte[] bytes = data.bytes();
    return (bytes[0] & 0xff)
        + "."
        + (bytes[1] & 0xff)
        + "."
        + (bytes[2] & 0xff)
        + "."
        + (bytes[3] & 0xff);
  }

  /** In the shortest form: the first of the longest runs of zeros becomes two colons. */
  static String v6(byte[] bytes) {
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
