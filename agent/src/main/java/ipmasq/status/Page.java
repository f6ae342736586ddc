package ipmasq.status;

import ipmasq.http.Response;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Map;

/**
 * The page for people: one file with its style and script inside. The browser is told to run that
 * very script and no other, so injected text could do no harm.
 */
final class Page {
  private Page() {}

  static Response response() {
    String html = html();
    return new Response(
        200,
        "text/html; charset=utf-8",
        html.getBytes(StandardCharsets.UTF_8),
        Map.of(
            "Content-Security-Policy",
            "default-src 'none'; connect-src 'self'; img-src data:; base-uri 'none';"
                + " form-action 'none'; frame-ancestors 'none'; script-src '"
                + digest(between(html, "<script>", "</script>"))
                + "'; style-src '"
                + digest(between(html, "<style>", "</style>"))
                + "'"));
  }

  private static String html() {
    try (InputStream in = Page.class.getResourceAsStream("page.html")) {
      if (in == null) {
        throw new IllegalStateException("the page is missing from the build");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String between(String text, String start, String end) {
    int from = text.indexOf(start) + start.length();
    return text.substring(from, text.indexOf(end, from));
  }

  private static String digest(String text) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return "sha256-" + Base64.getEncoder().encodeToString(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
