package ipmasq.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import ipmasq.net.Ip;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLDecoder;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a client asks for: strict wherever leniency would mean guessing.
 *
 * @param path decoded, without the query
 * @param query decoded; if a name is given twice, the last value counts
 * @param head whether the client wants no more than the answer's head
 */
public record Request(String path, Map<String, String> query, boolean head) {
  private static final int MOST_BYTES = 8192;
  private static final int LONGEST_LINE = 4096;
  private static final String TOKEN = "([!#$%&'*+.^_`|~0-9A-Za-z-]+)";
  private static final Pattern REQUEST_LINE = Pattern.compile(TOKEN + " (\\S+) (HTTP/\\d[.\\d]*)");
  private static final Pattern HEADER = Pattern.compile(TOKEN + ":([^\r]*)");
  private static final Pattern HOST =
      Pattern.compile("(?:\\[([^\\]]*)\\]|([^:\\[\\]]+?)\\.?)(?::[0-9]*)?");

  public Request {
    query = Map.copyOf(query);
  }

  /** Without blanks around it; empty if it is missing or says nothing. */
  public Optional<String> parameter(String name) {
    return Optional.of(query.getOrDefault(name, "").strip()).filter(text -> !text.isEmpty());
  }

  /** A request that is not accepted. */
  static final class Refused extends Exception {
    private static final long serialVersionUID = 1;
    private final int status;

    Refused(int status, String why) {
      super(why, null, false, false);
      this.status = status;
    }

    Response response() {
      return Response.text(status, String.valueOf(getMessage()));
    }
  }

  /**
   * @param names the server's own, besides addresses and {@code localhost}
   */
  static Request read(InputStream in, Set<String> names) throws IOException, Refused {
    String[] lines = head(in).split("\r?\n", -1); // the last two are empty
    Matcher line = REQUEST_LINE.matcher(lines[0]);
    refuse(lines[0].length() > LONGEST_LINE, 414, "the request line is too long");
    refuse(!line.matches(), 400, "the request line is not METHOD TARGET VERSION");
    boolean older = line.group(3).equals("HTTP/1.0");
    refuse(!older && !line.group(3).equals("HTTP/1.1"), 505, "only HTTP/1.1 and 1.0 are supported");
    boolean head = line.group(1).equals("HEAD");
    refuse(!head && !line.group(1).equals("GET"), 405, "only GET and HEAD are allowed");
    Map<String, String> headers = headers(lines);
    String host = headers.get("host");
    refuse(host == null && !older, 400, "no Host header");
    refuse(
        host != null && !isOurs(HOST.matcher(host), names),
        421,
        "the Host header names another site: use the node's address or its name");
    refuse(
        headers.containsKey("transfer-encoding")
            || !headers.getOrDefault("content-length", "0").equals("0"),
        400,
        "a request must not have a body");
    return of(line.group(2), head);
  }

  private static void refuse(boolean refused, int status, String why) throws Refused {
    if (refused) {
      throw new Refused(status, why);
    }
  }

  /** Up to its empty line. */
  private static String head(InputStream in) throws IOException, Refused {
    StringBuilder head = new StringBuilder();
    for (int line = 0; line >= 0; ) {
      int b = in.read();
      if (b < 0) {
        throw new EOFException();
      }
      boolean control = b < ' ' && b != '\t' && b != '\r' && b != '\n' || b == 0x7f;
      refuse(control, 400, "a control character in the request");
      refuse(head.length() == MOST_BYTES, 431, "the headers are too long");
      head.append((char) b);
      if (b == '\n') {
        boolean empty = head.length() - line <= (head.charAt(line) == '\r' ? 2 : 1);
        line = empty ? -1 : head.length();
      }
    }
    return head.toString();
  }

  private static Map<String, String> headers(String[] lines) throws Refused {
    Map<String, String> headers = new HashMap<>();
    for (int i = 1; i < lines.length - 2; i++) {
      Matcher header = HEADER.matcher(lines[i]);
      refuse(!header.matches(), 400, "a header without a proper name or value");
      String name = header.group(1).toLowerCase(Locale.ROOT);
      boolean twice = headers.put(name, header.group(2).strip()) != null;
      refuse(
          twice && (name.equals("host") || name.equals("content-length")),
          400,
          "a header appears twice that may appear only once");
    }
    return headers;
  }

  /**
   * Whether a request was meant for this server. A web page elsewhere can point a name of its own
   * at this node (DNS rebinding) and have a visitor's browser read what is served here; the browser
   * then sends that name in the Host header. An address is never rebound, so any address is fine,
   * and so is a client that sends no Host header: no browser does that.
   */
  private static boolean isOurs(Matcher host, Set<String> names) {
    if (!host.matches()) {
      return false;
    }
    String name = host.group(2);
    return name == null
        ? Ip.parse(host.group(1)).isPresent()
        : Ip.parse(name).isPresent()
            || name.equalsIgnoreCase("localhost")
            || names.stream().anyMatch(name::equalsIgnoreCase);
  }

  private static Request of(String target, boolean head) throws Refused {
    refuse(!target.startsWith("/"), 400, "the target is not a path");
    String[] parts = target.split("\\?", 2);
    Map<String, String> query = new HashMap<>();
    try {
      for (String pair : parts.length == 2 ? parts[1].split("&") : new String[0]) {
        String[] named = pair.split("=", 2);
        String value = named.length == 2 ? URLDecoder.decode(named[1], UTF_8) : "";
        query.put(URLDecoder.decode(named[0], UTF_8), value);
      }
      return new Request(URLDecoder.decode(parts[0], UTF_8), query, head);
    } catch (IllegalArgumentException bad) {
      throw new Refused(400, "a percent sign without two hexadecimal digits");
    }
  }
}
