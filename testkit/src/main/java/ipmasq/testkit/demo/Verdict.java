package ipmasq.testkit.demo;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What {@code ip-masq-agent explain --output json} says of one destination.
 *
 * @param range the range that decided; empty if none holds the destination
 */
record Verdict(String destination, boolean translated, String range) {
  private static final Pattern OBJECT = Pattern.compile("\\{[^}]*}");
  private static final Pattern FIELD = Pattern.compile("\"(\\w+)\":(?:\"([^\"]*)\"|(\\w+))");

  /** Reads the answer: a flat list of objects, flat but for the rule that decides. */
  static List<Verdict> parse(String json) {
    List<Verdict> verdicts = new ArrayList<>();
    Matcher objects = OBJECT.matcher(json.replaceAll("\"decidedBy\":\\{[^}]*},", ""));
    while (objects.find()) {
      Map<String, String> fields = new HashMap<>();
      Matcher field = FIELD.matcher(objects.group());
      while (field.find()) {
        fields.put(field.group(1), field.group(2) != null ? field.group(2) : field.group(3));
      }
      String range = fields.getOrDefault("range", "null");
      verdicts.add(
          new Verdict(
              fields.getOrDefault("to", ""),
              "translated".equals(fields.get("actual")),
              range.equals("null") ? "" : range));
    }
    return verdicts;
  }

  /** The rule that decided, as in the chain, without its comment. */
  String rule() {
    String match = range.isEmpty() ? "" : "-d " + range + " ";
    return match + (translated ? "-j MASQUERADE" : "-j RETURN");
  }
}
