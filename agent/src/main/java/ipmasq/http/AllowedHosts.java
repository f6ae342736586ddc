package ipmasq.http;

import ipmasq.net.Ip;
import java.util.Locale;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Refuses requests that were meant for another site. A web page elsewhere can point a name of its
 * own at this node (DNS rebinding) and have a visitor's browser read what is served here; the
 * browser then sends that name in the Host header. An address is never rebound, so any address is
 * fine, and so is a client that sends no Host header: no browser does that.
 */
public final class AllowedHosts implements Handler {
  private final Set<String> names;
  private final Handler next;

  /**
   * @param names allowed names besides addresses and {@code localhost}
   */
  public AllowedHosts(Set<String> names, Handler next) {
    this.names =
        Stream.concat(Stream.of("localhost"), names.stream())
            .map(name -> name.toLowerCase(Locale.ROOT))
            .collect(Collectors.toUnmodifiableSet());
    this.next = next;
  }

  @Override
  public void handle(Request request, Consumer<Response> answer) {
    if (request.host().isEmpty() || allows(request.host().get())) {
      next.handle(request, answer);
    } else {
      answer.accept(
          Response.text(
              421, "the Host header names another site: use the node's address or its name"));
    }
  }

  /** Whether this is us: {@code HOST}, {@code HOST:PORT}, {@code [IPV6]:PORT}. */
  private boolean allows(String header) {
    boolean bracketed = header.startsWith("[");
    int end = bracketed ? header.indexOf(']') : header.indexOf(':');
    String host = header.substring(bracketed ? 1 : 0, end < 0 ? header.length() : end);
    String name = host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
    return Ip.parse(host).isPresent() || names.contains(name.toLowerCase(Locale.ROOT));
  }
}
