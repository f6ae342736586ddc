package ipmasq.cni;

import ipmasq.cni.JsonDocument.Edit;
import ipmasq.json.JsonValue;
import java.util.ArrayList;
import java.util.List;

/**
 * The layout of a file, so that edits look like their surroundings.
 *
 * <pre>
 *   {CRLF                             lineEnd  CRLF
 *   \t"policies": [ …                 unit     \t        colon  ": "
 * </pre>
 */
final class JsonLayout {
  private final JsonDocument document;
  private final String lineEnd; // empty: the whole file is one line
  private final String unit;
  private final String colon;

  private JsonLayout(JsonDocument document, String lineEnd, String unit, String colon) {
    this.document = document;
    this.lineEnd = lineEnd;
    this.unit = unit;
    this.colon = colon;
  }

  static JsonLayout of(JsonDocument document) {
    JsonValue.Obj root = document.root();
    if (root.members().isEmpty()) {
      return new JsonLayout(document, "", "", ": ");
    }
    JsonValue.Member first = root.members().getFirst();
    String lead = document.text(root.from() + 1, first.key().from());
    String colon = document.text(first.key().to(), first.value().from());
    String unit = afterBreak(lead);
    return new JsonLayout(
        document,
        lineBreak(document.text(root)),
        unit.isBlank() && !unit.isEmpty() && hasBreak(lead) ? unit : "  ",
        hasBreak(colon) ? ": " : colon);
  }

  /** The first line end in a text; empty if it has none. */
  private static String lineBreak(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) == '\n') {
        return "\n";
      }
      if (text.charAt(i) == '\r') {
        return text.startsWith("\r\n", i) ? "\r\n" : "\r";
      }
    }
    return "";
  }

  private static boolean hasBreak(String text) {
    return !lineBreak(text).isEmpty();
  }

  private static String afterBreak(String text) {
    return text.substring(Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1);
  }

  /** The whitespace between a comma and the next value on the same line. */
  private String gap() {
    return colon.endsWith(":") ? "" : " ";
  }

  /** The indentation of the line that holds a byte. */
  private String indentAt(int at) {
    String line = afterBreak(document.text(document.root().from(), at));
    int end = 0;
    while (end < line.length() && (line.charAt(end) == ' ' || line.charAt(end) == '\t')) {
      end++;
    }
    return line.substring(0, end);
  }

  /** Whether only a key comes before a value on its line. */
  private boolean opensItsLine(int at) {
    String line = afterBreak(document.text(document.root().from(), at));
    return !lineEnd.isEmpty()
        && line.indexOf('{') < 0
        && line.indexOf('[') < 0
        && line.indexOf(',') < 0;
  }

  /** The array with other items, on one line or one item per line as it is now. */
  Edit list(JsonValue.Arr array, List<String> raws) {
    return new Edit(array.from(), array.to(), raws.isEmpty() ? "[]" : listText(array, raws));
  }

  private String listText(JsonValue.Arr array, List<String> raws) {
    List<JsonValue> items = array.items();
    if (items.isEmpty()) {
      return print(NewJson.list(raws), indentAt(array.from()), opensItsLine(array.from()));
    }
    String lead = document.text(array.from() + 1, items.getFirst().from());
    String tail = document.text(items.getLast().to(), array.to() - 1);
    return "[" + lead + String.join(separator(lead, items), raws) + tail + "]";
  }

  private String separator(String lead, List<JsonValue> items) {
    if (items.size() > 1) {
      return document.text(items.get(0).to(), items.get(1).from());
    }
    return "," + (hasBreak(lead) ? lead : gap());
  }

  /** One more item at the end of an array. */
  Edit append(JsonValue.Arr array, NewJson item) {
    List<JsonValue> items = array.items();
    if (items.isEmpty()) {
      NewJson atomic = new NewJson.Items(List.of(item));
      return new Edit(
          array.from(),
          array.to(),
          print(atomic, indentAt(array.from()), opensItsLine(array.from())));
    }
    String lead = document.text(array.from() + 1, items.getFirst().from());
    return behind(items.getLast(), separator(lead, items), "", item);
  }

  /** One more member at the end of an object. */
  Edit append(JsonValue.Obj object, String key, NewJson value) {
    List<JsonValue.Member> members = object.members();
    String quoted = '"' + key + '"' + colon;
    if (members.isEmpty()) {
      return new Edit(object.from(), object.to(), "{" + quoted + print(value, "", false) + "}");
    }
    String lead = document.text(object.from() + 1, members.getFirst().key().from());
    String separator =
        members.size() > 1
            ? document.text(members.get(0).value().to(), members.get(1).key().from())
            : "," + (hasBreak(lead) ? lead : gap());
    return behind(members.getLast().value(), separator, quoted, value);
  }

  private Edit behind(JsonValue last, String separator, String key, NewJson value) {
    boolean lines = hasBreak(separator) || hasBreak(document.text(last));
    // Some begin their lines with the comma.
    String indent =
        hasBreak(separator) ? afterBreak(separator).replace(',', ' ') : indentAt(last.to());
    return new Edit(last.to(), last.to(), separator + key + print(value, indent, lines));
  }

  private String print(NewJson value, String indent, boolean lines) {
    return switch (value) {
      case NewJson.Raw(var text) -> text;
      case NewJson.Items(var items) -> {
        List<String> parts = new ArrayList<>();
        items.forEach(item -> parts.add(print(item, indent + unit, lines)));
        yield "[" + joined(parts, indent, lines) + "]";
      }
      case NewJson.Fields(var fields) -> {
        List<String> parts = new ArrayList<>();
        fields.forEach(
            f -> parts.add('"' + f.key() + '"' + colon + print(f.value(), indent + unit, lines)));
        yield "{" + joined(parts, indent, lines) + "}";
      }
    };
  }

  private String joined(List<String> parts, String indent, boolean lines) {
    if (parts.isEmpty()) {
      return "";
    }
    return lines
        ? lineEnd
            + indent
            + unit
            + String.join("," + lineEnd + indent + unit, parts)
            + lineEnd
            + indent
        : String.join("," + gap(), parts);
  }

  /** Takes the item at an index out of an array, with its comma. */
  static Edit without(JsonValue.Arr array, int index) {
    List<JsonValue> items = array.items();
    if (items.size() == 1) {
      return new Edit(array.from(), array.to(), "[]");
    }
    return index > 0
        ? new Edit(items.get(index - 1).to(), items.get(index).to(), "")
        : new Edit(items.get(0).from(), items.get(1).from(), "");
  }
}
