package ipmasq.http;

import java.time.Duration;

/**
 * How much a client may ask of the server.
 *
 * @param connections at most this many at once; one more evicts the oldest, so that idle clients
 *     cannot keep a health probe out
 * @param headBytes request line and headers together
 * @param lineBytes the request line
 * @param request from a request's first byte to its last, and from its answer's first to its last
 * @param idle between two requests of a connection
 * @param requests at most this many per connection
 */
public record Limits(
    int connections, int headBytes, int lineBytes, Duration request, Duration idle, int requests) {
  public static final Limits USUAL =
      new Limits(32, 8192, 4096, Duration.ofSeconds(10), Duration.ofSeconds(20), 1000);
}
