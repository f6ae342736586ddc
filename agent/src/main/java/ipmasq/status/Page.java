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
    try (InputStream in = Page.class.getResourceAsStream("page.html")) {
      if (in == null) {
        throw new IllegalStateException("the page is missing from the build");
      }
      byte[] bytes = in.readAllBytes();
      String html = new String(bytes, StandardCharsets.UTF_8);
      String policy =
          "default-src 'none'; connect-src 'self'; img-src data:; base-uri 'none'; form-action"
              + " 'none'; frame-ancestors 'none'; script-src '%s'; style-src '%s'"
                  .formatted(digestOf(html, "script"), digestOf(html, "style"));
      return new Response(
          200, "text/html; charset=utf-8", bytes, Map.of("Content-Security-Policy", policy));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String digestOf(String html, String element) {
    int start = html.indexOf("<" + element + ">") + element.length() + 2;
    String text = html.substring(start, html.indexOf("</" + element + ">", start));
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return "sha256-" + Base64.getEncoder().encodeToString(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
