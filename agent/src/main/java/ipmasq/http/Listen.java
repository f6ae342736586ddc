package ipmasq.http;

import ipmasq.net.Ip;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where to listen, as written on a command line. */
public final class Listen {
  private static final Pattern ADDRESS =
      Pattern.compile("(?:\\[([^\\]]*)\\]|([^:]*)):([0-9]{1,5})");

  private Listen() {}

  /**
   * Reads {@code ADDRESS:PORT}: {@code 127.0.0.1:9090}, {@code [::1]:9090}; {@code :9090} is every
   * address of the node, and port 0 is one that the kernel chooses. Names are not looked up, but
   * {@code localhost} is known.
   */
  public static Optional<InetSocketAddress> parse(String text) {
    Matcher parts = ADDRESS.matcher(text);
    if (!parts.matches() || Integer.parseInt(parts.group(3)) > 65535) {
      return Optional.empty();
    }
    int port = Integer.parseInt(parts.group(3));
    String host = Optional.ofNullable(parts.group(1)).orElse(parts.group(2));
    return text.startsWith(":")
        ? Optional.of(new InetSocketAddress(port))
        : Ip.parse(host.equals("localhost") ? "127.0.0.1" : host)
            .map(ip -> new InetSocketAddress(InetAddress.ofLiteral(ip.toString()), port));
  }
}
