package ipmasq.config;

import static ipmasq.config.ValueType.ordered;

import ipmasq.config.Value.Kind;
import ipmasq.config.ValueType.Input;
import ipmasq.config.ValueType.Parsed;
import ipmasq.net.GoDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;

/** Types of single values. */
final class ScalarTypes {
  private static final String DURATION =
      "^\\+?(([0-9]+\\.?[0-9]*|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$";
  private static final Duration SHORTEST_INTERVAL = Duration.ofMillis(100);

  private ScalarTypes() {}

  /**
   * @param file reads a value from a file
   * @param flag reads the text of a flag
   */
  private record Scalar<T>(
      Function<Input, Optional<T>> file,
      Function<String, Parsed<T>> flag,
      Map<String, Object> schema,
      Function<T, Object> writer)
      implements ValueType<T> {
    @Override
    public Optional<T> read(Input in) {
      in.places().add(in.value());
      return file.apply(in);
    }

    @Override
    public Parsed<T> parse(String text) {
      return flag.apply(text);
    }

    @Override
    public Object json(T value) {
      return writer.apply(value);
    }
  }

  /** Null leaves the default in place. */
  private static <T> Function<Input, Optional<T>> orNull(Function<Input, Optional<T>> file) {
    return in -> in.value().kind() == Kind.NULL ? Optional.empty() : file.apply(in);
  }

  /** {@code true} or {@code false}, and YAML's other words for them. */
  static final ValueType<Boolean> BOOLEAN =
      new Scalar<>(
          orNull(
              in ->
                  in.value().kind() == Kind.BOOLEAN
                      ? Optional.of(in.value().text().equals("true"))
                      : in.mismatch(", not a boolean", "write true or false, without quotes")),
          // As Go's flags take it.
          text ->
              switch (text) {
                case "1", "t", "T", "true", "TRUE", "True" -> new Parsed.Valid<>(true);
                case "0", "f", "F", "false", "FALSE", "False" -> new Parsed.Valid<>(false);
                default -> new Parsed.Malformed<>("true or false, not " + Phrases.quoted(text));
              },
          Map.of("type", List.of("boolean", "null")),
          value -> value);

  /** A whole number from 0 on, or none. */
  static final ValueType<OptionalLong> COUNT =
      new Scalar<>(
          orNull(
              in -> {
                OptionalLong value =
                    in.value().kind() == Kind.NUMBER
                        ? whole(in.value().text())
                        : OptionalLong.empty();
                String hint = "write a number such as 64";
                if (value.isEmpty()) {
                  return in.mismatch(", not a whole number", hint);
                }
                return value.getAsLong() < 0
                    ? in.mismatch(", but must not be negative", hint)
                    : Optional.of(value);
              }),
          text ->
              whole(text).isEmpty()
                  ? new Parsed.Malformed<>("a whole number, not " + Phrases.quoted(text))
                  : new Parsed.Valid<>(whole(text)),
          ordered("type", List.of("integer", "null"), "minimum", 0),
          value -> value.isPresent() ? value.getAsLong() : "");

  private static OptionalLong whole(String number) {
    try {
      return OptionalLong.of(Long.parseLong(number));
    } catch (NumberFormatException _) {
      return OptionalLong.empty();
    }
  }

  /** How often something happens: a Go duration above zero; its flag has whole seconds. */
  static final ValueType<Duration> INTERVAL =
      new Scalar<>(
          ScalarTypes::interval,
          // As in the agent that has this flag.
          text -> {
            OptionalLong seconds = whole(text);
            return seconds.isEmpty() || seconds.getAsLong() < 1
                ? new Parsed.Malformed<>(
                    "a whole number of seconds, 1 or more, not " + Phrases.quoted(text))
                : new Parsed.Valid<>(Duration.ofSeconds(seconds.getAsLong()));
          },
          ordered("type", "string", "pattern", DURATION),
          ScalarTypes::durationText);

  /** How long something lasts: a Go duration above zero, or none. */
  static final ValueType<Optional<Duration>> PERIOD =
      new Scalar<>(
          orNull(
              in -> {
                Optional<Duration> period = interval(in);
                return period.isPresent() ? Optional.of(period) : Optional.empty();
              }),
          text ->
              switch (GoDuration.parse(text)) {
                case GoDuration.Parsed.Valid(Duration value) when value.isPositive() ->
                    new Parsed.Valid<>(Optional.of(value));
                case GoDuration.Parsed _ ->
                    new Parsed.Malformed<>(
                        "a duration above zero such as 10m, not " + Phrases.quoted(text));
              },
          ordered("type", List.of("string", "null"), "pattern", DURATION),
          value -> value.map(ScalarTypes::durationText).orElse(""));

  private static Optional<Duration> interval(Input in) {
    Value value = in.value();
    String example = "write a duration such as \"60s\" or \"1h30m\"";
    return switch (value.kind()) {
      case NULL -> in.mismatch("", example + ", or leave the key out");
      case NUMBER -> in.mismatch(", not a duration", "write \"" + seconds(value.text()) + "s\"");
      case BOOLEAN, MERGE, LIST, MAP -> in.mismatch(", not a duration", example);
      case TEXT ->
          switch (GoDuration.parse(value.text())) {
            case GoDuration.Parsed.Malformed(String reason) -> {
              in.problems()
                  .error(
                      value,
                      in.key() + ": " + Phrases.shortened(reason),
                      "write numbers with the units h, m, s, ms, us or ns, such as \"60s\" or"
                          + " \"1h30m\"");
              yield Optional.empty();
            }
            case GoDuration.Parsed.Valid(Duration duration) -> atLeast(in, duration);
          };
    };
  }

  private static Optional<Duration> atLeast(Input in, Duration duration) {
    String what = in.key() + " is " + Phrases.quoted(in.value().text());
    if (!duration.isPositive()) {
      in.problems().error(in.value(), what + ", but must be more than zero", "write \"60s\"");
      return Optional.empty();
    }
    if (duration.compareTo(SHORTEST_INTERVAL) < 0) {
      in.problems().warning(in.value(), what + ", raised to 100ms", "write \"100ms\" or more");
      return Optional.of(SHORTEST_INTERVAL);
    }
    return Optional.of(duration);
  }

  private static String seconds(String number) {
    return number.startsWith("-") || number.equals("0") ? "60" : Phrases.shortened(number);
  }

  /** As Go would write it, in one unit. */
  static String durationText(Duration value) {
    return value.toNanosPart() == 0
        ? value.toSeconds() + "s"
        : value.toNanos() % 1_000_000 == 0 ? value.toMillis() + "ms" : value.toNanos() + "ns";
  }

  /** The name of an iptables chain. */
  static final ValueType<String> CHAIN =
      new Scalar<>(
          orNull(
              in -> {
                if (in.value().kind() != Kind.TEXT) {
                  return in.mismatch(", not a name", "put the name in quotes");
                }
                String fault = ChainName.fault(in.value().text());
                if (!fault.isEmpty()) {
                  in.problems()
                      .error(
                          in.value(),
                          in.key() + ": " + fault,
                          "write a name such as \"IP-MASQ-AGENT\"");
                }
                return Optional.of(in.value().text()).filter(_ -> fault.isEmpty());
              }),
          text ->
              ChainName.fault(text).isEmpty()
                  ? new Parsed.Valid<>(text)
                  : new Parsed.Malformed<>(ChainName.fault(text)),
          ordered(
              "type",
              List.of("string", "null"),
              "minLength",
              1,
              "maxLength",
              ChainName.MAX_BYTES,
              "pattern",
              "^[^\\s\"'\\\\`!-][^\\s\"'\\\\`]*$"),
          value -> value);

  /** One of a few words: the names of an enum's constants in small letters. */
  static <E extends Enum<E>> ValueType<E> choice(Class<E> constants) {
    Map<String, E> words = new LinkedHashMap<>();
    for (E constant : constants.getEnumConstants()) {
      words.put(constant.name().toLowerCase(Locale.ROOT), constant);
    }
    String all = "one of " + String.join(", ", words.keySet());
    List<Object> schema = new ArrayList<>(words.keySet());
    schema.add(Optional.empty()); // null
    return new Scalar<>(
        orNull(
            in -> {
              E value = in.value().kind() == Kind.TEXT ? words.get(in.value().text()) : null;
              return value == null ? in.mismatch("", "write " + all) : Optional.of(value);
            }),
        text -> {
          E value = words.get(text);
          return value == null
              ? new Parsed.Malformed<>(all + ", not " + Phrases.quoted(text))
              : new Parsed.Valid<>(value);
        },
        Map.of("enum", schema),
        value -> value.name().toLowerCase(Locale.ROOT));
  }
}
