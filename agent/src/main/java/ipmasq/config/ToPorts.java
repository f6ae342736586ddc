package ipmasq.config;

import ipmasq.config.ValueType.Parsed;
import ipmasq.net.PortRange;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The text of {@code --to-ports}: {@code 1024-29999,32768-65535}. */
final class ToPorts {
  private static final Pattern PART = Pattern.compile("\\+?0*([0-9]+)(-\\+?0*([0-9]+))?");

  private ToPorts() {}

  /** Reads ports and ranges of ports, divided by commas; none for an empty text. */
  static Parsed<List<PortRange>> parse(String text) {
    List<PortRange> ranges = new ArrayList<>();
    for (String part : text.isEmpty() ? new String[0] : text.split(",", -1)) {
      Matcher range = PART.matcher(part);
      if (!range.matches()) {
        return new Parsed.Malformed<>(
            Phrases.quoted(part) + " is not a port or a range such as 1024-65535");
      }
      int first = port(range.group(1));
      int last = range.group(3) == null ? first : port(range.group(3));
      if (first == 0 || last == 0 || first > 65535 || last > 65535) {
        return new Parsed.Malformed<>(Phrases.quoted(part) + ": ports go from 1 to 65535");
      }
      if (first > last) {
        return new Parsed.Malformed<>(Phrases.quoted(part) + " ends before it begins");
      }
      ranges.add(new PortRange(first, last));
    }
    return new Parsed.Valid<>(ranges);
  }

  private static int port(String digits) {
    return digits.length() > 5 ? Integer.MAX_VALUE : Integer.parseInt(digits);
  }
}
