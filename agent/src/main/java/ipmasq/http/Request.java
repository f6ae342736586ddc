package ipmasq.http;

import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * What a client asks for.
 *
 * @param path decoded, without the query
 * @param query decoded; if a name is given twice, the last value counts
 * @param host as the client named this server, with the port if given
 * @param abandoned whether nobody waits for the answer any more
 */
public record Request(
    String path, Map<String, String> query, Optional<String> host, BooleanSupplier abandoned) {
  public Request {
    query = Map.copyOf(query);
  }

  public Request(String path, Map<String, String> query, Optional<String> host) {
    this(path, query, host, () -> false);
  }

  public Optional<String> parameter(String name) {
    return Optional.ofNullable(query.get(name));
  }

  /** Asks the connection, which takes up to a millisecond: has the client gone, or its time? */
  public boolean cancelled() {
    return abandoned.getAsBoolean();
  }
}
