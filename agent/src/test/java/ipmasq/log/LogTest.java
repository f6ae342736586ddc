package ipmasq.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LogTest {
  private static final Clock CLOCK =
      Clock.fixed(Instant.parse("2026-01-01T12:00:00Z"), ZoneOffset.UTC);

  /** Other programs' text: a forged line, a terminal's escape sequences, other line ends. */
  @ParameterizedTest
  @CsvSource({
    "TEXT, '2026-01-01T12:00:00.000Z WARN a\\u000ab\\u000d\\u001b[2J\\u009b\\u007f\\u2028ü'",
    "JSON, '{\"time\":\"2026-01-01T12:00:00.000Z\",\"level\":\"WARN\",\"event\":\"conflict\","
        + "\"message\":\"a\\nb\\r\\u001b[2J\\u009b\\u007f\u2028ü\"}'"
  })
  void oneLineWithoutControlCharacters(Log.Format format, String expected) {
    List<String> lines = new ArrayList<>();
    Log log = new Log(lines::add, CLOCK, format, 0);
    log.warn(LogEvent.of(LogEvent.Kind.CONFLICT, "a\nb\r\u001b[2J\u009b\u007f\u2028ü"));
    assertEquals(List.of(expected), lines);
  }
}
