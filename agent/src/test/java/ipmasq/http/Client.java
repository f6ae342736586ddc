package ipmasq.http;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A client that says exactly what it is told to, and gives up after some seconds. */
final class Client implements AutoCloseable {
  private static final int DEADLINE_MILLIS = 10_000;

  private final Socket socket = new Socket();

  Client(InetSocketAddress server) throws IOException {
    socket.setSoTimeout(DEADLINE_MILLIS);
    socket.connect(server, DEADLINE_MILLIS);
  }

  Client say(String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    return this;
  }

  /** All that comes until the server hangs up. */
  String hear() throws IOException {
    return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  /** Whether the server has hung up, or does within the deadline. */
  boolean isHungUpOn() {
    try {
      hear();
      return true;
    } catch (IOException reset) {
      return !(reset instanceof java.net.SocketTimeoutException);
    }
  }

  /** Whether the server takes no more, and what it sent is not read. */
  boolean isCutOff() {
    try {
      say("x");
      return false;
    } catch (IOException reset) {
      return true;
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }

  /** The answer to one request on a connection of its own. */
  static String get(InetSocketAddress server, String target) throws IOException {
    try (Client client = new Client(server)) {
      return client
          .say("GET " + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
          .hear();
    }
  }
}
