package ipmasq.http;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;

/** A head is read or refused whatever follows it, and its last byte is needed. */
public final class HeadTarget {
  private HeadTarget() {}

  public static void fuzzerTestOneInput(byte[] data) throws IOException {
    ByteArrayInputStream in = new ByteArrayInputStream(data);
    try {
      Head head = Head.read(in, Limits.USUAL);
      byte[] shorter = Arrays.copyOf(data, data.length - in.available() - 1);
      try {
        Head.read(new ByteArrayInputStream(shorter), Limits.USUAL);
        throw new AssertionError("whole without its last byte: " + head);
      } catch (IOException partial) {
        // As it must be.
      }
      Response.text(200, head.request().path()).write(new ByteArrayOutputStream(), head.withBody());
    } catch (Head.Refused | IOException no) {
      // Refused, or the beginning of a head.
    }
  }
}
