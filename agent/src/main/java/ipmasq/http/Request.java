package ipmasq.http;

import java.util.Map;
import java.util.Optional;

/**
 * What a client asks for.
 *
 * @param path decoded, without the query
 * @param query decoded; of a name given twice the last value counts
 * @param host as the client named this server, with the port if given
 */
public record Request(String path, Map<String, String> query, Optional<String> host) {
  public Request {
    query = Map.copyOf(query);
  }

  public Optional<String> parameter(String name) {
    return Optional.ofNullable(query.get(name));
  }
}
