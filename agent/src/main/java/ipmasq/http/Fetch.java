package ipmasq.http;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** A minimal client for our own server. */
public final class Fetch {
  private static final int CONNECT_MILLIS = 2000;
  private static final int ANSWER_MILLIS = 10_000;
  private static final int MOST_BYTES = 16 << 20;

  private Fetch() {}

  /**
   * A whole answer.
   *
   * @param head its first line and its headers
   */
  public record Fetched(int status, String head, String body) {
    /** The value of a header that our server sends, in the server's spelling. */
    public Optional<String> header(String name) {
      return head.lines()
          .filter(line -> line.startsWith(name + ": "))
          .map(line -> line.substring(name.length() + 2))
          .findFirst();
    }
  }

  public static Fetched get(InetSocketAddress server, String path) throws IOException {
    try (Socket socket = new Socket()) {
      socket.setSoTimeout(ANSWER_MILLIS);
      socket.connect(server, CONNECT_MILLIS);
      String request = "GET " + path + " HTTP/1.0\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      return fetched(socket.getInputStream().readNBytes(MOST_BYTES));
    } catch (SocketTimeoutException late) {
      throw new IOException("it does not answer in time", late);
    } catch (NumberFormatException notOurs) {
      throw new IOException("what answers there does not speak HTTP", notOurs);
    }
  }

  private static Fetched fetched(byte[] bytes) throws IOException {
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    int end = text.indexOf("\r\n\r\n");
    if (end < 12 || !text.startsWith("HTTP/1.1 ")) {
      throw new IOException("what answers there does not speak HTTP");
    }
    int body = end + 4;
    Fetched fetched =
        new Fetched(
            Integer.parseInt(text, 9, 12, 10),
            text.substring(0, end),
            new String(bytes, body, bytes.length - body, StandardCharsets.UTF_8));
    // An agent that stops meanwhile ends its answers early.
    if (!fetched.header("Content-Length").equals(Optional.of("" + (bytes.length - body)))) {
      throw new IOException("its answer is cut short");
    }
    return fetched;
  }
}
