package ipmasq.netlink.nftables;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * What the kernel keeps with an object and never looks at. {@code nft} stores comments there, as
 * records of a type, a length and a value, a byte each for the first two.
 */
final class Userdata {
  private static final int MOST_IN_A_COMMENT = 127; // what nft shows, without the ending zero

  private Userdata() {}

  /** The comment as userdata, no longer than nft would show it. */
  static byte[] comment(int type, String comment) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    put(out, type, comment);
    return out.toByteArray();
  }

  static void put(ByteArrayOutputStream out, int type, String comment) {
    byte[] text = comment.getBytes(StandardCharsets.UTF_8);
    if (text.length > MOST_IN_A_COMMENT) {
      throw new IllegalArgumentException("too long for a comment: " + comment);
    }
    out.write(type);
    out.write(text.length + 1);
    out.write(text, 0, text.length);
    out.write(0);
  }

  /** The text stored under a type; empty where there is none or the bytes are something else. */
  static String comment(byte[] userdata, int type) {
    int at = 0;
    while (at + 2 <= userdata.length) {
      int length = userdata[at + 1] & 0xff;
      if (at + 2 + length > userdata.length) {
        return "";
      }
      if ((userdata[at] & 0xff) == type && length > 0) {
        return text(Arrays.copyOfRange(userdata, at + 2, at + 1 + length));
      }
      at += 2 + length;
    }
    return "";
  }

  /** Text that could be written again just so. Bytes that are none would come back as more. */
  private static String text(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    boolean comment =
        bytes.length <= MOST_IN_A_COMMENT
            && Arrays.equals(bytes, text.getBytes(StandardCharsets.UTF_8));
    return comment ? text : "";
  }
}
