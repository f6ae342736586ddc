package ipmasq.http;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * An answer.
 *
 * @param type its media type
 * @param headers further ones, besides those that every answer gets
 */
public record Response(int status, String type, byte[] body, Map<String, String> headers) {
  public Response {
    headers = Map.copyOf(headers);
  }

  /** Text for people and scripts. */
  public static Response text(int status, String text) {
    return new Response(
        status,
        "text/plain; charset=utf-8",
        (text + "\n").getBytes(StandardCharsets.UTF_8),
        Map.of());
  }

  public static Response json(int status, String json) {
    return new Response(
        status, "application/json", (json + "\n").getBytes(StandardCharsets.UTF_8), Map.of());
  }

  public Response with(String header, String value) {
    Map<String, String> all = new HashMap<>(headers);
    all.put(header, value);
    return new Response(status, type, body, all);
  }
}
