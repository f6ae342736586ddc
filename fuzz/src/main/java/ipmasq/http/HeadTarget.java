package ipmasq.http;

import java.util.Arrays;

/**
 * A request is whole or not whatever follows it, and a part of one is never more than the whole.
 */
public final class HeadTarget {
  private HeadTarget() {}

  public static void fuzzerTestOneInput(byte[] data) {
    Head.ParsedHead parsed = Head.parse(data, data.length, Limits.USUAL);
    if (parsed instanceof Head.ParsedHead.WholeHead whole) {
      byte[] alone = Arrays.copyOf(data, whole.length());
      if (!parsed.equals(Head.parse(alone, alone.length, Limits.USUAL))) {
        throw new AssertionError("another one without what follows: " + parsed);
      }
      if (!(Head.parse(alone, alone.length - 1, Limits.USUAL) instanceof Head.ParsedHead.Partial)) {
        throw new AssertionError("whole without its last byte: " + parsed);
      }
      Wire.bytes(Response.text(200, whole.request().toString()), whole.withBody(), true);
    }
  }
}
