package ipmasq.http;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Locale;

/** Answers as bytes. */
final class Wire {
  private Wire() {}

  /** Head and body; the body is shared, not copied. */
  static ByteBuffer[] bytes(Response response, boolean withBody, boolean keepAlive) {
    StringBuilder head = new StringBuilder(512);
    head.append("HTTP/1.1 ").append(response.status()).append(' ');
    head.append(reason(response.status())).append("\r\n");
    header(head, "Date", date(Instant.now()));
    header(head, "Content-Type", response.type());
    header(head, "Content-Length", String.valueOf(response.body().length));
    header(head, "Cache-Control", "no-store");
    header(head, "X-Content-Type-Options", "nosniff");
    header(head, "Referrer-Policy", "no-referrer");
    header(head, "Cross-Origin-Resource-Policy", "same-origin");
    response.headers().forEach((name, value) -> header(head, name, value));
    if (response.status() == 405) {
      header(head, "Allow", "GET, HEAD");
    }
    if (!keepAlive) {
      header(head, "Connection", "close");
    }
    head.append("\r\n");
    ByteBuffer first = ByteBuffer.wrap(head.toString().getBytes(StandardCharsets.ISO_8859_1));
    return withBody
        ? new ByteBuffer[] {first, ByteBuffer.wrap(response.body())}
        : new ByteBuffer[] {first};
  }

  private static void header(StringBuilder head, String name, String value) {
    head.append(name).append(": ").append(value).append("\r\n");
  }

  /** {@code Thu, 01 Jan 1970 00:00:00 GMT}; the JDK's formatter would be a megabyte of classes. */
  static String date(Instant instant) {
    OffsetDateTime time = instant.atOffset(ZoneOffset.UTC);
    return capitalised(time.getDayOfWeek())
        + ", "
        + twoDigits(time.getDayOfMonth())
        + " "
        + capitalised(time.getMonth())
        + " "
        + time.getYear()
        + " "
        + twoDigits(time.getHour())
        + ":"
        + twoDigits(time.getMinute())
        + ":"
        + twoDigits(time.getSecond())
        + " GMT";
  }

  private static String capitalised(Enum<?> name) {
    return name.name().charAt(0) + name.name().substring(1, 3).toLowerCase(Locale.ROOT);
  }

  private static String twoDigits(int number) {
    return number < 10 ? "0" + number : String.valueOf(number);
  }

  private static String reason(int status) {
    return switch (status) {
      case 200 -> "OK";
      case 400 -> "Bad Request";
      case 404 -> "Not Found";
      case 405 -> "Method Not Allowed";
      case 408 -> "Request Timeout";
      case 414 -> "URI Too Long";
      case 421 -> "Misdirected Request";
      case 431 -> "Request Header Fields Too Large";
      case 500 -> "Internal Server Error";
      case 503 -> "Service Unavailable";
      case 505 -> "HTTP Version Not Supported";
      default -> "Answer";
    };
  }
}
