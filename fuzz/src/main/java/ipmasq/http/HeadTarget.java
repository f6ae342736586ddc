package ipmasq.http;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Set;

/** A head is read or refused whatever follows it, and its last byte is needed. */
public final class HeadTarget {
  private HeadTarget() {}

  public static void fuzzerTestOneInput(byte[] data) throws IOException {
    ByteArrayInputStream in = new ByteArrayInputStream(data);
    try {
      Request request = Request.read(in, Set.of());
      byte[] shorter = Arrays.copyOf(data, data.length - in.available() - 1);
      try {
        Request.read(new ByteArrayInputStream(shorter), Set.of());
        throw new AssertionError("whole without its last byte: " + request);
      } catch (IOException partial) {
        // As it must be.
      }
      Response.text(200, request.path()).write(new ByteArrayOutputStream(), !request.head());
    } catch (Request.Refused | IOException no) {
      // Refused, or the beginning of a head.
    }
  }
}
