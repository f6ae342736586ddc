package ipmasq.http;

import ipmasq.net.Ip;
import java.util.Locale;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Refuses requests that were meant for another site. A web page elsewhere can point a name of its
 * own at this node (DNS rebinding) and have a visitor's browser read what is served here; the
 * browser then sends that name in the Host header. An address is never rebound, so any address is
 * fine, and so is a client that sends no Host header: no browser does that.
 */
public final class AllowedHosts implements Handler {
  private static final Pattern HOST =
      Pattern.compile("(?:\\[([^\\]]*)\\]|([^:\\[\\]]+?)\\.?)(?::[0-9]*)?");

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
    if (request.host().isEmpty() || allows(HOST.matcher(request.host().get()))) {
      next.handle(request, answer);
    } else {
      answer.accept(
          Response.text(
              421, "the Host header names another site: use the node's address or its name"));
    }
  }

  private boolean allows(Matcher host) {
    if (!host.matches()) {
      return false;
    }
    String name = host.group(2);
    return name == null
        ? Ip.parse(host.group(1)).isPresent()
        : Ip.parse(name).isPresent() || names.contains(name.toLowerCase(Locale.ROOT));
  }
}
