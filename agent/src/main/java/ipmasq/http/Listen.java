package ipmasq.http;

import ipmasq.net.Ip;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Optional;

/** Where to listen, as written on a command line. */
public final class Listen {
  private Listen() {}

  /**
   * Reads {@code ADDRESS:PORT}: {@code 127.0.0.1:9090}, {@code [::1]:9090}; {@code :9090} is every
   * address of the node, and port 0 is one that the kernel chooses. Names are not looked up, but
   * {@code localhost} is known.
   */
  public static Optional<InetSocketAddress> parse(String text) {
    int colon = text.lastIndexOf(':');
    if (colon < 0) {
      return Optional.empty();
    }
    int port = port(text.substring(colon + 1));
    String host = text.substring(0, colon);
    if (port < 0) {
      return Optional.empty();
    }
    if (host.isEmpty()) {
      return Optional.of(new InetSocketAddress(port));
    }
    boolean bracketed = host.startsWith("[") && host.endsWith("]");
    if (!bracketed && host.indexOf(':') >= 0) {
      return Optional.empty();
    }
    String literal = bracketed ? host.substring(1, host.length() - 1) : host;
    return Ip.parse(literal.equals("localhost") ? "127.0.0.1" : literal)
        .map(ip -> new InetSocketAddress(address(ip), port));
  }

  private static InetAddress address(Ip ip) {
    try {
      return InetAddress.getByAddress(ip.bytes());
    } catch (UnknownHostException wrongLength) {
      throw new AssertionError(wrongLength);
    }
  }

  private static int port(String text) {
    if (text.isEmpty() || text.length() > 5) {
      return -1;
    }
    int port = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < '0' || c > '9') {
        return -1;
      }
      port = port * 10 + c - '0';
    }
    return port > 65535 ? -1 : port;
  }
}
