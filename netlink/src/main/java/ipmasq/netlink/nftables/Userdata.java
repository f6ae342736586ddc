package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Bytes that the kernel stores with an object and never reads. {@code nft} keeps comments there, as
 * records of a one-byte type, a one-byte length and a value.
 */
final class Userdata {
  private static final int NFTNL_UDATA_COMMENT_MAXLEN = 128; // with the zero that ends it

  private Userdata() {}

  /** The comment as userdata, no longer than nft would show it. */
  static byte[] comment(int type, String comment) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    put(out, type, comment);
    return out.toByteArray();
  }

  static void put(ByteArrayOutputStream out, int type, String comment) {
    byte[] text = comment.getBytes(StandardCharsets.UTF_8);
    if (text.length >= NFTNL_UDATA_COMMENT_MAXLEN) {
      throw new IllegalArgumentException("too long for a comment: " + comment);
    }
    out.write(type);
    out.write(text.length + 1);
    out.write(text, 0, text.length);
    out.write(0);
  }

  /** The same of an object's attribute, which may be missing. */
  static String comment(Attributes object, int attribute, int type) throws MalformedMessage {
    return comment(object.bytesOrNone(attribute), type);
  }

  /** The text stored under a type; empty if there is none or the bytes are malformed. */
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

  /** Only text that survives a round trip: invalid UTF-8 would be written back differently. */
  private static String text(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    boolean comment =
        bytes.length < NFTNL_UDATA_COMMENT_MAXLEN
            && Arrays.equals(bytes, text.getBytes(StandardCharsets.UTF_8));
    return comment ? text : "";
  }
}
