package ipmasq.http;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The head of a request: strict wherever leniency would mean guessing.
 *
 * @param withBody whether the client wants more than the answer's head
 */
record Head(Request request, boolean withBody) {
  private static final int MOST_HEADERS = 64;
  private static final String TOKEN = "([!#$%&'*+.^_`|~0-9A-Za-z-]+)";
  private static final Pattern REQUEST_LINE = Pattern.compile(TOKEN + " (\\S+) (HTTP/\\d[.\\d]*)");
  private static final Pattern HEADER = Pattern.compile(TOKEN + ":(.*)", Pattern.DOTALL);

  /** A head that is not accepted: the answer's status and text. */
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

  static Head read(InputStream in, Limits limits) throws IOException, Refused {
    String first = line(in, limits.lineBytes(), 414, "the request line is too long");
    int left = limits.headBytes() - first.length();
    Map<String, String> headers = new HashMap<>();
    for (int count = 0; ; count++) {
      String line = line(in, left, 431, "the headers are too long");
      if (line.isEmpty()) {
        return of(first, headers);
      }
      if (count == MOST_HEADERS) {
        throw new Refused(431, "too many headers");
      }
      left -= line.length();
      header(line, headers);
    }
  }

  /** The next line without its end. */
  private static String line(InputStream in, int most, int status, String tooLong)
      throws IOException, Refused {
    StringBuilder line = new StringBuilder();
    for (int last = 0; ; ) {
      int b = in.read();
      if (b < 0) {
        throw new EOFException();
      }
      if (b == '\n') {
        return line.toString();
      }
      if (last == '\r' || b < ' ' && b != '\t' && b != '\r' || b == 0x7f) {
        throw new Refused(400, "a control character in the request");
      }
      if (b != '\r' && line.length() >= most) {
        throw new Refused(status, tooLong);
      }
      if (b != '\r') {
        line.append((char) b);
      }
      last = b;
    }
  }

  private static void header(String line, Map<String, String> headers) throws Refused {
    Matcher header = HEADER.matcher(line);
    if (!header.matches()) {
      throw new Refused(400, "a header without a proper name");
    }
    String name = header.group(1).toLowerCase(Locale.ROOT);
    boolean twice = headers.put(name, header.group(2).strip()) != null;
    if (twice && (name.equals("host") || name.equals("content-length"))) {
      throw new Refused(400, "a header appears twice that may appear only once");
    }
  }

  private static Head of(String requestLine, Map<String, String> headers) throws Refused {
    Matcher line = REQUEST_LINE.matcher(requestLine);
    if (!line.matches()) {
      throw new Refused(400, "the request line is not METHOD TARGET VERSION");
    }
    boolean older = line.group(3).equals("HTTP/1.0");
    if (!older && !line.group(3).equals("HTTP/1.1")) {
      throw new Refused(505, "only HTTP/1.1 and HTTP/1.0 are supported");
    }
    boolean head = line.group(1).equals("HEAD");
    if (!head && !line.group(1).equals("GET")) {
      throw new Refused(405, "only GET and HEAD are allowed");
    }
    if (!older && !headers.containsKey("host")) {
      throw new Refused(400, "no Host header");
    }
    if (headers.containsKey("transfer-encoding")
        || !headers.getOrDefault("content-length", "0").equals("0")) {
      throw new Refused(400, "a request must not have a body");
    }
    return new Head(request(line.group(2), Optional.ofNullable(headers.get("host"))), !head);
  }

  private static Request request(String target, Optional<String> host) throws Refused {
    if (!target.startsWith("/")) {
      throw new Refused(400, "the target is not a path");
    }
    String[] parts = target.split("\\?", 2);
    Map<String, String> query = new HashMap<>();
    if (parts.length == 2) {
      for (String pair : parts[1].split("&", -1)) {
        int equals = pair.indexOf('=');
        String name = equals < 0 ? pair : pair.substring(0, equals);
        query.put(decoded(name), equals < 0 ? "" : decoded(pair.substring(equals + 1)));
      }
    }
    return new Request(decoded(parts[0]), query, host);
  }

  private static String decoded(String text) throws Refused {
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException bad) {
      throw new Refused(400, "a percent sign without two hexadecimal digits");
    }
  }
}
