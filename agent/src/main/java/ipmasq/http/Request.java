package ipmasq.http;

import java.util.Map;
import java.util.Optional;

/**
 * What a client asks for.
 *
 * @param path decoded, without the query
 * @param query decoded; of a name given twice the last value counts
 */
public record Request(String path, Map<String, String> query) {
  public Request {
    query = Map.copyOf(query);
  }

  public Optional<String> parameter(String name) {
    return Optional.ofNullable(query.get(name));
  }
}
