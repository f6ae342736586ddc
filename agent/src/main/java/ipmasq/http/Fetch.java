package ipmasq.http;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;

/** A minimal client for our own server. */
public final class Fetch {
  private static final int CONNECT_MILLIS = 2000;
  private static final int ANSWER_MILLIS = 10_000;
  private static final int MOST_BYTES = 16 << 20;

  private Fetch() {}

  /** An answer's status and body. */
  public record Fetched(int status, String body) {}

  public static Fetched get(InetSocketAddress server, String path) throws IOException {
    try (Socket socket = new Socket()) {
      socket.setSoTimeout(ANSWER_MILLIS);
      socket.connect(server, CONNECT_MILLIS);
      String request = "GET " + path + " HTTP/1.0\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      String text =
          new String(socket.getInputStream().readNBytes(MOST_BYTES), StandardCharsets.UTF_8);
      int body = text.indexOf("\r\n\r\n");
      if (body < 0 || !text.startsWith("HTTP/1.1 ")) {
        throw new IOException("what answers there does not speak HTTP");
      }
      return new Fetched(Integer.parseInt(text, 9, 12, 10), text.substring(body + 4));
    } catch (SocketTimeoutException late) {
      throw new IOException("it does not answer in time", late);
    } catch (NumberFormatException notOurs) {
      throw new IOException("what answers there does not speak HTTP", notOurs);
    }
  }
}
