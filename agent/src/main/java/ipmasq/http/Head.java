package ipmasq.http;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The head of a request, parsed from its bytes: strict wherever leniency would mean guessing. */
final class Head {
  private static final int MOST_HEADERS = 64;

  private final byte[] bytes;
  private final int length;
  private final Limits limits;
  private int at;

  private Head(byte[] bytes, int length, Limits limits) {
    this.bytes = bytes;
    this.length = length;
    this.limits = limits;
  }

  /** The state of the bytes received so far. */
  sealed interface ParsedHead {
    /** The beginning of one. */
    record Partial() implements ParsedHead {}

    /**
     * A whole one.
     *
     * @param length how many bytes it takes
     */
    record WholeHead(Request request, boolean withBody, boolean keepAlive, int length)
        implements ParsedHead {}

    /** A malformed head: it is refused, and the connection ends. */
    record Bad(int status, String why) implements ParsedHead {}
  }

  /** Thrown within this class only: the way out of nested reading. */
  private static final class BadHead extends Exception {
    private static final long serialVersionUID = 1;
    private final int status;

    BadHead(int status, String why) {
      super(why, null, false, false);
      this.status = status;
    }
  }

  static ParsedHead parse(byte[] bytes, int length, Limits limits) {
    try {
      return new Head(bytes, length, limits).parse();
    } catch (BadHead bad) {
      return new ParsedHead.Bad(bad.status, String.valueOf(bad.getMessage()));
    }
  }

  private ParsedHead parse() throws BadHead {
    String requestLine = line(414, "the request line is too long", limits.lineBytes());
    if (requestLine == null) {
      return new ParsedHead.Partial();
    }
    Map<String, String> headers = new HashMap<>();
    for (int lines = 0; ; lines++) {
      String line = line(431, "the headers are too long", limits.headBytes());
      if (line == null) {
        return new ParsedHead.Partial();
      }
      if (line.isEmpty()) {
        return whole(requestLine, headers);
      }
      if (lines == MOST_HEADERS) {
        throw new BadHead(431, "too many headers");
      }
      header(line, headers);
    }
  }

  /** The next line without its end; null if its end has not come yet. */
  private @Nullable String line(int status, String tooLong, int most) throws BadHead {
    int start = at;
    for (int i = start; i < length; i++) {
      byte b = bytes[i];
      if (i >= most) {
        throw new BadHead(status, tooLong);
      }
      if (b == '\n') {
        int end = i > start && bytes[i - 1] == '\r' ? i - 1 : i;
        at = i + 1;
        return new String(bytes, start, end - start, StandardCharsets.ISO_8859_1);
      }
      boolean carriageReturn = b == '\r' && (i + 1 == length || bytes[i + 1] == '\n');
      if (b >= 0 && b < ' ' && b != '\t' && !carriageReturn || b == 0x7f) {
        throw new BadHead(400, "a control character in the request");
      }
    }
    if (length >= most) {
      throw new BadHead(status, tooLong);
    }
    return null;
  }

  private static void header(String line, Map<String, String> headers) throws BadHead {
    int colon = line.indexOf(':');
    if (colon < 1) {
      throw new BadHead(400, "a header without a name");
    }
    String name = line.substring(0, colon).toLowerCase(Locale.ROOT);
    for (int i = 0; i < name.length(); i++) {
      if (!isTokenCharacter(name.charAt(i))) {
        throw new BadHead(400, "a header's name holds what it must not");
      }
    }
    boolean twice = headers.put(name, line.substring(colon + 1).strip()) != null;
    if (twice && (name.equals("host") || name.equals("content-length"))) {
      throw new BadHead(400, "a header twice that must stand once");
    }
  }

  private static boolean isTokenCharacter(char c) {
    return c >= 'a' && c <= 'z'
        || c >= 'A' && c <= 'Z'
        || c >= '0' && c <= '9'
        || "!#$%&'*+-.^_`|~".indexOf(c) >= 0;
  }

  private ParsedHead whole(String requestLine, Map<String, String> headers) throws BadHead {
    int first = requestLine.indexOf(' ');
    int last = requestLine.lastIndexOf(' ');
    if (first < 1 || last == first) {
      throw new BadHead(400, "the request line is not METHOD TARGET VERSION");
    }
    String method = requestLine.substring(0, first);
    String target = requestLine.substring(first + 1, last);
    String version = requestLine.substring(last + 1);
    boolean older = version.equals("HTTP/1.0");
    if (!older && !version.equals("HTTP/1.1")) {
      throw new BadHead(version.startsWith("HTTP/") ? 505 : 400, "HTTP/1.1 is spoken here");
    }
    for (int i = 0; i < method.length(); i++) {
      if (!isTokenCharacter(method.charAt(i))) {
        throw new BadHead(400, "the method holds what it must not");
      }
    }
    boolean head = method.equals("HEAD");
    if (!head && !method.equals("GET")) {
      throw new BadHead(405, "only GET and HEAD are answered here");
    }
    if (!older && !headers.containsKey("host")) {
      throw new BadHead(400, "no Host header");
    }
    if (headers.containsKey("transfer-encoding")
        || !headers.getOrDefault("content-length", "0").equals("0")) {
      throw new BadHead(400, "a request with a body is not taken here");
    }
    String connection = headers.getOrDefault("connection", "").toLowerCase(Locale.ROOT);
    Request request = request(target, Optional.ofNullable(headers.get("host")));
    return new ParsedHead.WholeHead(request, !head, !older && !connection.equals("close"), at);
  }

  private static Request request(String target, Optional<String> hostHeader) throws BadHead {
    String local = target;
    Optional<String> host = hostHeader;
    if (target.startsWith("http://")) {
      int slash = target.indexOf('/', "http://".length());
      local = slash < 0 ? "/" : target.substring(slash);
      host = Optional.of(target.substring("http://".length(), slash < 0 ? target.length() : slash));
    }
    if (!local.startsWith("/")) {
      throw new BadHead(400, "the target is not a path");
    }
    int question = local.indexOf('?');
    String path = decoded(question < 0 ? local : local.substring(0, question));
    Map<String, String> query = new HashMap<>();
    if (question >= 0) {
      for (String pair : local.substring(question + 1).split("&")) {
        int equals = pair.indexOf('=');
        query.put(
            decoded(equals < 0 ? pair : pair.substring(0, equals)),
            equals < 0 ? "" : decoded(pair.substring(equals + 1)));
      }
    }
    return new Request(path, query, host);
  }

  private static String decoded(String text) throws BadHead {
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException bad) {
      throw new BadHead(400, "a percent sign without two hexadecimal digits");
    }
  }
}
