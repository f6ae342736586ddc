package ipmasq.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.OutputStream;
import java.util.HashMap;
import java.util.Map;

/**
 * An answer.
 *
 * @param type its media type
 * @param headers further ones, besides those that every answer gets
 */
public record Response(int status, String type, byte[] body, Map<String, String> headers) {
  private static final String EVERY =
      """
      Cache-Control: no-store
      X-Content-Type-Options: nosniff
      Referrer-Policy: no-referrer
      Cross-Origin-Resource-Policy: same-origin
      Connection: close
      """;

  public Response {
    headers = Map.copyOf(headers);
  }

  /** Text for people and scripts. */
  public static Response text(int status, String text) {
    return new Response(
        status, "text/plain; charset=utf-8", (text + "\n").getBytes(UTF_8), Map.of());
  }

  public static Response json(int status, String json) {
    return new Response(status, "application/json", (json + "\n").getBytes(UTF_8), Map.of());
  }

  public Response with(String header, String value) {
    Map<String, String> all = new HashMap<>(headers);
    all.put(header, value);
    return new Response(status, type, body, all);
  }

  void write(OutputStream out, boolean withBody) throws IOException {
    StringBuilder head = new StringBuilder(512);
    head.append("HTTP/1.1 ").append(status).append(status < 400 ? " OK\n" : " Error\n");
    head.append("Content-Type: ").append(type).append('\n');
    head.append("Content-Length: ").append(body.length).append('\n').append(EVERY);
    headers.forEach((name, value) -> head.append(name).append(": ").append(value).append('\n'));
    head.append(status == 405 ? "Allow: GET, HEAD\n\n" : "\n");
    out.write(head.toString().replace("\n", "\r\n").getBytes(ISO_8859_1));
    if (withBody) {
      out.write(body);
    }
  }
}
