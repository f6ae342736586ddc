package ipmasq.config;

import ipmasq.net.PortRange;
import java.util.ArrayList;
import java.util.List;

/** The text of {@code --to-ports}: {@code 1024-29999,32768-65535}. */
public final class ToPorts {
  private ToPorts() {}

  /** The result of parsing ports. */
  public sealed interface ParsedPorts {
    /** The ranges, in the order of the text; none for an empty text. */
    record PortRanges(List<PortRange> ranges) implements ParsedPorts {
      public PortRanges {
        ranges = List.copyOf(ranges);
      }
    }

    /** Not ports, and why. */
    record MalformedPorts(String reason) implements ParsedPorts {}
  }

  /** Reads ports and ranges of ports, divided by commas. */
  public static ParsedPorts parse(String text) {
    List<PortRange> ranges = new ArrayList<>();
    int at = 0;
    while (at <= text.length() && !text.isEmpty()) {
      int comma = text.indexOf(',', at);
      int end = comma < 0 ? text.length() : comma;
      String part = text.substring(at, end);
      int dash = part.indexOf('-');
      int first = port(dash < 0 ? part : part.substring(0, dash));
      int last = dash < 0 ? first : port(part.substring(dash + 1));
      if (first < 0 || last < 0) {
        return new ParsedPorts.MalformedPorts(
            Phrases.quoted(part) + " is not a port or a range such as 1024-65535");
      }
      if (first == 0 || last > 65535 || last == 0 || first > 65535) {
        return new ParsedPorts.MalformedPorts(Phrases.quoted(part) + ": ports go from 1 to 65535");
      }
      if (first > last) {
        return new ParsedPorts.MalformedPorts(Phrases.quoted(part) + " ends before it begins");
      }
      ranges.add(new PortRange(first, last));
      at = end + 1;
    }
    return new ParsedPorts.PortRanges(ranges);
  }

  /** Decimal digits, perhaps after a plus; -1 if it is no number; 65536 for any larger number. */
  private static int port(String text) {
    int at = text.startsWith("+") ? 1 : 0;
    if (at == text.length()) {
      return -1;
    }
    int value = 0;
    for (; at < text.length(); at++) {
      char c = text.charAt(at);
      if (c < '0' || c > '9') {
        return -1;
      }
      value = Math.min(value * 10 + c - '0', 65536);
    }
    return value;
  }
}
