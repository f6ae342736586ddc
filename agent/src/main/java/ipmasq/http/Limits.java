package ipmasq.http;

import java.time.Duration;

/**
 * How much clients may ask of the server.
 *
 * @param connections at most this many at once, and as many threads; one more evicts the oldest, so
 *     that silent clients cannot keep a health probe out
 * @param headBytes request line and headers together
 * @param lineBytes the request line
 * @param time for a request to arrive, then for its answer to be made, then for it to be sent
 */
public record Limits(int connections, int headBytes, int lineBytes, Duration time) {
  public static final Limits USUAL = new Limits(16, 8192, 4096, Duration.ofSeconds(10));
}
