package ipmasq.config;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.AbstractList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/**
 * A value of a document, by the rules of YAML 1.1 as the Go agents apply them: {@code yes} is true,
 * {@code 0100} is 64, {@code 1:30} is text.
 *
 * @param text of a scalar, as JSON would have it: {@code 0x40} is {@code 64}
 */
record Value(Kind kind, String text, Node node) {
  /** The tag of a scalar that has none in the file. */
  static final Tag UNTYPED = new Tag("untyped");

  private static final Pattern INTEGER =
      Pattern.compile("([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))");
  private static final Pattern DECIMAL =
      Pattern.compile("[-+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?");

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
          plain(scalar.getValue(), node);
      case ScalarNode scalar -> new Value(Kind.TEXT, scalar.getValue(), node);
      default -> throw new IllegalStateException("an unknown node: " + node.getNodeType());
    };
  }

  private static Value plain(String text, Node node) {
    return switch (text) {
      case "", "~", "null", "Null", "NULL" -> new Value(Kind.NULL, "", node);
      case "<<" -> new Value(Kind.MERGE, text, node);
      case "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON" ->
          new Value(Kind.BOOLEAN, "true", node);
      case "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF" ->
          new Value(Kind.BOOLEAN, "false", node);
      default -> {
        Optional<String> number = number(text);
        yield new Value(number.isPresent() ? Kind.NUMBER : Kind.TEXT, number.orElse(text), node);
      }
    };
  }

  /** The number as JSON writes it; empty if the text is none. */
  private static Optional<String> number(String text) {
    char first = text.charAt(0);
    boolean candidate = first >= '0' && first <= '9' || "+-.".indexOf(first) >= 0;
    // Ranges have a slash, and numbers have not; nobody writes one of 100 digits.
    if (!candidate || text.length() > 100 || text.indexOf('/') >= 0) {
      return Optional.empty();
    }
    // 1_000 is 1000; but a number that starts with its point takes no underscores.
    String digits = first == '.' ? text : text.replace("_", "");
    var integer = INTEGER.matcher(digits);
    if (integer.matches()) {
      int[] bases = {16, 2, 8, 10};
      for (int i = 0; i < bases.length; i++) {
        if (integer.group(i + 2) != null) {
          return Optional.of(
              new BigInteger(integer.group(1).replace("+", "") + integer.group(i + 2), bases[i])
                  .toString());
        }
      }
    }
    if (!DECIMAL.matcher(digits).matches() || Double.isInfinite(Double.parseDouble(digits))) {
      return Optional.empty();
    }
    BigDecimal value = new BigDecimal(digits.replaceFirst("\\.($|[eE])", "$1"));
    // 64.0 and 1e3 are whole numbers too.
    return Optional.of(value.signum() == 0 ? "0" : value.stripTrailingZeros().toPlainString());
  }

  /** The elements of a list, made one by one when they are asked for. */
  List<Value> elements() {
    List<Node> nodes = ((SequenceNode) node).getValue();
    return new AbstractList<>() {
      @Override
      public Value get(int index) {
        return of(nodes.get(index));
      }

      @Override
      public int size() {
        return nodes.size();
      }
    };
  }

  record Entry(Value name, Value value) {}

  /** The entries of a map, in the order of the file. */
  List<Entry> entries() {
    return ((MappingNode) node).getValue().stream().map(Value::entry).toList();
  }

  private static Entry entry(NodeTuple tuple) {
    return new Entry(of(tuple.getKeyNode()), of(tuple.getValueNode()));
  }

  /** The value of a map under a name; empty if there is none, or if this is no map. */
  Optional<Value> member(String name) {
    return kind != Kind.MAP
        ? Optional.empty()
        : entries().stream()
            .filter(entry -> entry.name.text.equals(name))
            .map(Entry::value)
            .findFirst();
  }

  /** From 1. */
  int line() {
    return node instanceof Document.PlacedScalar scalar ? scalar.line : mark().getLine() + 1;
  }

  /** From 1. */
  int column() {
    return node instanceof Document.PlacedScalar scalar ? scalar.column : mark().getColumn() + 1;
  }

  private Mark mark() {
    return node.getStartMark().orElseThrow();
  }

  /** {@code line:column}. */
  String place() {
    return line() + ":" + column();
  }

  /** A scalar as the file has it. */
  String written() {
    return node instanceof ScalarNode scalar ? scalar.getValue() : "";
  }

  /** What this is, in a sentence: {@code the number 10}. */
  String phrase() {
    return switch (kind) {
      case NULL -> "empty";
      case BOOLEAN -> "the boolean " + Phrases.shortened(written());
      case NUMBER -> "the number " + Phrases.shortened(written());
      case TEXT, MERGE -> "the text " + Phrases.quoted(written());
      case LIST -> "a list";
      case MAP -> "a map";
    };
  }
}
