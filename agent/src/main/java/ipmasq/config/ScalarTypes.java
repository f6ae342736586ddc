package ipmasq.config;

import ipmasq.config.Token.TokenKind;
import ipmasq.net.GoDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** Types of single values. */
final class ScalarTypes {
  private ScalarTypes() {}

  /** {@code true} or {@code false}, and YAML's other words for them. */
  static final ValueType<Boolean> BOOLEAN =
      new ValueType<>() {
        @Override
        public Optional<Boolean> read(Input in) throws SyntaxError {
          in.places().add(in.first());
          return switch (in.first().kind()) {
            case BOOLEAN -> Optional.of(in.first().text().equals("true"));
            case NULL -> Optional.empty();
            case NUMBER, TEXT, MERGE, LIST, LIST_END, MAP, MAP_END, END -> {
              in.mismatch(", not a boolean", "write true or false, without quotes");
              yield Optional.empty();
            }
          };
        }

        /** As Go's flags take it. */
        @Override
        public ParsedValue<Boolean> parse(String text) {
          return switch (text) {
            case "1", "t", "T", "true", "TRUE", "True" -> new ParsedValue.Value<>(true);
            case "0", "f", "F", "false", "FALSE", "False" -> new ParsedValue.Value<>(false);
            default ->
                new ParsedValue.MalformedValue<>("true or false, not " + Phrases.quoted(text));
          };
        }

        @Override
        public Map<String, Object> schema() {
          return Map.of("type", List.of("boolean", "null"));
        }

        @Override
        public Object json(Boolean value) {
          return value;
        }
      };

  /** A whole number from 0 on, or none. */
  static final ValueType<OptionalLong> COUNT =
      new ValueType<>() {
        @Override
        public Optional<OptionalLong> read(Input in) throws SyntaxError {
          Token first = in.first();
          in.places().add(first);
          if (first.kind() == TokenKind.NULL) {
            return Optional.empty();
          }
          OptionalLong value =
              first.kind() == TokenKind.NUMBER ? whole(first.text()) : OptionalLong.empty();
          if (value.isEmpty()) {
            in.mismatch(", not a whole number", "write a number such as 64");
          } else if (value.getAsLong() < 0) {
            in.mismatch(", but must not be negative", "write a number such as 64");
          } else {
            return Optional.of(value);
          }
          return Optional.empty();
        }

        @Override
        public ParsedValue<OptionalLong> parse(String text) {
          OptionalLong value = whole(text);
          return value.isEmpty()
              ? new ParsedValue.MalformedValue<>("a whole number, not " + Phrases.quoted(text))
              : new ParsedValue.Value<>(value);
        }

        @Override
        public Map<String, Object> schema() {
          return ordered("type", List.of("integer", "null"), "minimum", 0);
        }

        @Override
        public Object json(OptionalLong value) {
          return value.isPresent() ? value.getAsLong() : "";
        }
      };

  private static OptionalLong whole(String number) {
    try {
      return OptionalLong.of(Long.parseLong(number));
    } catch (NumberFormatException _) {
      // 64.0 and 1e3 are whole numbers too; numbers beyond a long are not.
      try {
        double value = Double.parseDouble(number);
        boolean whole = value == Math.rint(value) && Math.abs(value) < 0x1p63;
        return whole ? OptionalLong.of((long) value) : OptionalLong.empty();
      } catch (NumberFormatException _) {
        return OptionalLong.empty();
      }
    }
  }

  /** How often something happens: a Go duration above zero. */
  static final ValueType<Duration> INTERVAL =
      new ValueType<>() {
        private static final Duration SHORTEST = Duration.ofMillis(100);
        private static final String EXAMPLE = "write a duration such as \"60s\" or \"1h30m\"";

        @Override
        public Optional<Duration> read(Input in) throws SyntaxError {
          Token first = in.first();
          in.places().add(first);
          switch (first.kind()) {
            case TEXT -> {
              return readText(in);
            }
            case NULL -> in.mismatch("", EXAMPLE + ", or leave the key out");
            case NUMBER ->
                in.mismatch(", not a duration", "write \"" + seconds(first.text()) + "s\"");
            case BOOLEAN, MERGE, LIST, LIST_END, MAP, MAP_END, END ->
                in.mismatch(", not a duration", EXAMPLE);
          }
          return Optional.empty();
        }

        private static String seconds(String number) {
          return number.startsWith("-") || number.equals("0") ? "60" : Phrases.shortened(number);
        }

        private Optional<Duration> readText(Input in) {
          Token token = in.first();
          return switch (GoDuration.parse(token.text())) {
            case GoDuration.ParsedDuration.MalformedDuration(String reason) -> {
              in.problems()
                  .error(
                      token,
                      in.key() + ": " + Phrases.shortened(reason),
                      "write numbers with the units h, m, s, ms, us or ns, such as \"60s\" or"
                          + " \"1h30m\"");
              yield Optional.empty();
            }
            case GoDuration.ParsedDuration.Value(Duration value) when !value.isPositive() -> {
              in.problems()
                  .error(
                      token,
                      in.key()
                          + " is "
                          + Phrases.quoted(token.text())
                          + ", but must be more than zero",
                      "write \"60s\"");
              yield Optional.empty();
            }
            case GoDuration.ParsedDuration.Value(Duration value)
                when value.compareTo(SHORTEST) < 0 -> {
              in.problems()
                  .warning(
                      token,
                      in.key() + " is " + Phrases.quoted(token.text()) + ", raised to 100ms",
                      "write \"100ms\" or more");
              yield Optional.of(SHORTEST);
            }
            case GoDuration.ParsedDuration.Value(Duration value) -> Optional.of(value);
          };
        }

        /** In whole seconds, as in the agent that has this flag. */
        @Override
        public ParsedValue<Duration> parse(String text) {
          OptionalLong seconds = whole(text);
          return seconds.isEmpty() || seconds.getAsLong() < 1
              ? new ParsedValue.MalformedValue<>(
                  "a whole number of seconds, 1 or more, not " + Phrases.quoted(text))
              : new ParsedValue.Value<>(Duration.ofSeconds(seconds.getAsLong()));
        }

        @Override
        public Map<String, Object> schema() {
          return ordered(
              "type",
              "string",
              "pattern",
              "^\\+?(([0-9]+\\.?[0-9]*|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$");
        }

        @Override
        public Object json(Duration value) {
          return value.toNanosPart() == 0
              ? value.toSeconds() + "s"
              : value.toNanos() % 1_000_000 == 0 ? value.toMillis() + "ms" : value.toNanos() + "ns";
        }
      };

  /** The name of an iptables chain. */
  static final ValueType<String> CHAIN =
      new ValueType<>() {
        @Override
        public Optional<String> read(Input in) throws SyntaxError {
          Token first = in.first();
          in.places().add(first);
          if (first.kind() == TokenKind.NULL) {
            return Optional.empty();
          }
          if (first.kind() != TokenKind.TEXT) {
            in.mismatch(", not a name", "put the name in quotes");
            return Optional.empty();
          }
          return switch (parse(first.text())) {
            case ParsedValue.Value<String>(String name) -> Optional.of(name);
            case ParsedValue.MalformedValue<String>(String reason) -> {
              in.problems()
                  .error(first, in.key() + ": " + reason, "write a name such as \"IP-MASQ-AGENT\"");
              yield Optional.empty();
            }
          };
        }

        @Override
        public ParsedValue<String> parse(String text) {
          String fault = ChainName.fault(text);
          return fault.isEmpty()
              ? new ParsedValue.Value<>(text)
              : new ParsedValue.MalformedValue<>(fault);
        }

        @Override
        public Map<String, Object> schema() {
          return ordered(
              "type",
              List.of("string", "null"),
              "minLength",
              1,
              "maxLength",
              ChainName.MAX_BYTES,
              "pattern",
              "^[^\\s\"'\\\\`!-][^\\s\"'\\\\`]*$");
        }

        @Override
        public Object json(String value) {
          return value;
        }
      };

  /** One of a few words: the names of an enum's constants in small letters. */
  record ChoiceType<E extends Enum<E>>(Class<E> constants) implements ValueType<E> {
    private Map<String, E> words() {
      Map<String, E> words = new LinkedHashMap<>();
      for (E constant : constants.getEnumConstants()) {
        words.put(constant.name().toLowerCase(Locale.ROOT), constant);
      }
      return words;
    }

    @Override
    public Optional<E> read(Input in) throws SyntaxError {
      in.places().add(in.first());
      if (in.first().kind() == TokenKind.NULL) {
        return Optional.empty();
      }
      E value = in.first().kind() == TokenKind.TEXT ? words().get(in.first().text()) : null;
      if (value == null) {
        in.mismatch("", "write one of " + String.join(", ", words().keySet()));
      }
      return Optional.ofNullable(value);
    }

    @Override
    public ParsedValue<E> parse(String text) {
      E value = words().get(text);
      return value == null
          ? new ParsedValue.MalformedValue<>(
              "one of " + String.join(", ", words().keySet()) + ", not " + Phrases.quoted(text))
          : new ParsedValue.Value<>(value);
    }

    @Override
    public Map<String, Object> schema() {
      List<Object> choices = new ArrayList<>(words().keySet());
      choices.add(Optional.empty()); // null
      return Map.of("enum", choices);
    }

    @Override
    public Object json(E value) {
      return value.name().toLowerCase(Locale.ROOT);
    }
  }

  /** Alternating names and values, in this order. */
  static Map<String, Object> ordered(Object... namesAndValues) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      map.put((String) namesAndValues[i], namesAndValues[i + 1]);
    }
    return map;
  }
}
