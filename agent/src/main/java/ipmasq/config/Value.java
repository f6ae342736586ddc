package ipmasq.config;

import ipmasq.config.Problem.Place;
import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/**
 * A value of a document, by the rules of YAML 1.1 as the Go agents apply them: {@code yes} is true,
 * {@code 0100} is 64, {@code 1:30} is text.
 *
 * @param text of a scalar, as it is written
 * @param node null for the value of a flag
 */
record Value(Kind kind, String text, @Nullable Node node) {
  /** Ranges have a slash, and numbers have not; nobody writes one of 100 digits. */
  private static final Pattern NUMBER =
      Pattern.compile(
          "(?=[-+.0-9][^/]{0,99}$)[-+]?(0[xX][0-9a-fA-F_]+"
              + "|([0-9][0-9_]*\\.?[0-9_]*|\\.[0-9]+)([eE][-+]?[0-9]+)?)");

  enum Kind {
    NULL,
    BOOLEAN,
    NUMBER,
    TEXT,
    /** The key {@code <<}: the maps that follow are part of this one. */
    MERGE,
    LIST,
    MAP
  }

  static Value of(Node node) {
    return switch (node) {
      case SequenceNode _ -> new Value(Kind.LIST, "", node);
      case MappingNode _ -> new Value(Kind.MAP, "", node);
      // Quotes and !!str make text; other tags say only what the value says itself.
      case ScalarNode scalar when scalar.isPlain() && !scalar.getTag().equals(Tag.STR) ->
          new Value(plain(scalar.getValue()), scalar.getValue(), node);
      case ScalarNode scalar -> new Value(Kind.TEXT, scalar.getValue(), node);
      default -> throw new IllegalStateException("an unknown node: " + node.getNodeType());
    };
  }

  private static Kind plain(String text) {
    return switch (text) {
      case "", "~", "null", "Null", "NULL" -> Kind.NULL;
      case "<<" -> Kind.MERGE;
      case "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON" -> Kind.BOOLEAN;
      case "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF" ->
          Kind.BOOLEAN;
      default -> NUMBER.matcher(text).matches() ? Kind.NUMBER : Kind.TEXT;
    };
  }

  /** The text of a flag as the value that a file would have. */
  static Value ofFlag(String text) {
    return new Value(Kind.TEXT, text, null);
  }

  boolean isFlag() {
    return node == null;
  }

  /** What a boolean says. */
  boolean isTrue() {
    char first = text.toLowerCase(Locale.ROOT).charAt(0);
    return first == 'y' || first == 't' || first == '1' || text.equalsIgnoreCase("on");
  }

  /**
   * The whole number that this is: {@code 0x40}, {@code 1_000}, {@code 64.0} and {@code 1e3} too.
   */
  OptionalLong whole() {
    String digits = text.replace("_", "");
    try {
      return kind != Kind.NUMBER
          ? OptionalLong.empty()
          : OptionalLong.of(
              digits.matches("[-+]?0([xX].*|[0-7]+)")
                  ? Long.decode(digits)
                  : new BigDecimal(digits).longValueExact());
    } catch (NumberFormatException | ArithmeticException _) {
      return OptionalLong.empty();
    }
  }

  /** The nodes of a list. */
  List<Node> elements() {
    return node instanceof SequenceNode list ? list.getValue() : List.of();
  }

  record Entry(Value name, Value value) {}

  /** The entries of a map, in the order of the file. */
  List<Entry> entries() {
    return node instanceof MappingNode map
        ? map.getValue().stream()
            .map(tuple -> new Entry(of(tuple.getKeyNode()), of(tuple.getValueNode())))
            .toList()
        : List.of();
  }

  /** The value of a map under a name; empty if there is none, or if this is no map. */
  Optional<Value> member(String name) {
    return entries().stream()
        .filter(entry -> entry.name.text.equals(name))
        .map(Entry::value)
        .findFirst();
  }

  Place place() {
    return node == null ? Place.of("") : place(node);
  }

  static Place place(Node node) {
    return node instanceof Yaml.LightScalar scalar
        ? new Place(scalar.file, scalar.line, scalar.column)
        : Place.of(node.getStartMark().orElseThrow());
  }

  /** What this is, in a sentence: {@code the number 10}. */
  String phrase() {
    return switch (kind) {
      case NULL -> "empty";
      case BOOLEAN -> "the boolean " + Words.shortened(text);
      case NUMBER -> "the number " + Words.shortened(text);
      case TEXT, MERGE -> (isFlag() ? "" : "the text ") + Words.quoted(text);
      case LIST -> "a list";
      case MAP -> "a map";
    };
  }
}
