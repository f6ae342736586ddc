package ipmasq.config;

import ipmasq.config.Token.Kind;
import ipmasq.net.GoDuration;
import ipmasq.net.PortRange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** Readers of single values and of lists. */
final class Decoders {
  private static final Duration SHORTEST = Duration.ofMillis(100);

  private Decoders() {}

  /** How messages name a value: made on demand, since most of a million elements are fine. */
  record Name(String key, int number) {
    @Override
    public String toString() {
      return number == 0 ? key : "element " + number + " of " + key;
    }
  }

  /** Reads an element of a list; reports and returns nothing where it is no good. */
  interface Element<T> {
    Optional<T> decode(Name name, Token token, Problems problems);
  }

  /**
   * A list; an empty value is an empty list.
   *
   * @param empty what to keep the elements in
   */
  static <T> Decoder<Listed<T>> list(Element<T> element, Supplier<List<T>> empty) {
    return (key, first, rest, problems) -> {
      Listed<T> list = new Listed<>(empty.get());
      if (first.kind() == Kind.LIST) {
        elements(key, element, list, rest, problems);
      } else if (first.kind() != Kind.NULL) {
        problems.error(first, key + " is " + first.phrase() + ", not a list", listHint(first));
        rest.skip(first);
      }
      return Optional.of(list);
    };
  }

  /** A list, or its only element alone. */
  static <T> Decoder<Listed<T>> oneOrList(Element<T> element) {
    return (key, first, rest, problems) -> {
      Listed<T> list = Listed.empty();
      if (first.kind() == Kind.LIST) {
        elements(key, element, list, rest, problems);
      } else if (first.kind() != Kind.NULL) {
        element
            .decode(new Name(key, 0), first, problems)
            .ifPresent(value -> list.add(value, first));
        rest.skip(first);
      }
      return Optional.of(list);
    };
  }

  private static <T> void elements(
      String key, Element<T> element, Listed<T> list, Tokens rest, Problems problems)
      throws SyntaxError {
    int number = 1;
    for (Token at = rest.next(); at.kind() != Kind.LIST_END; at = rest.next()) {
      Name name = new Name(key, number++);
      if (at.kind() == Kind.NULL) {
        problems.error(at, name + " is empty", "write a value, or remove the element");
        continue;
      }
      Optional<T> value = element.decode(name, at, problems);
      if (value.isPresent()) {
        list.add(value.get(), at);
      }
      rest.skip(at);
    }
  }

  private static String listHint(Token value) {
    if (value.text().startsWith("-")) {
      return "a space belongs after the dash";
    }
    return value.kind() == Kind.TEXT && value.text().indexOf('\n') < 0
        ? "write it as a list: [" + Words.quoted(value.text()) + "]"
        : "write a list: one element a line, each after a dash";
  }

  static Optional<Boolean> truth(String key, Token first, Tokens rest, Problems problems)
      throws SyntaxError {
    switch (first.kind()) {
      case BOOLEAN -> {
        return Optional.of(first.text().equals("true"));
      }
      case NULL -> {}
      case NUMBER, TEXT, MERGE, LIST, LIST_END, MAP, MAP_END, END -> {
        String hint = "write true or false, without quotes";
        problems.error(first, key + " is " + first.phrase() + ", not a boolean", hint);
        rest.skip(first);
      }
    }
    return Optional.empty();
  }

  static Optional<Long> whole(String key, Token first, Tokens rest, Problems problems)
      throws SyntaxError {
    if (first.kind() == Kind.NULL) {
      return Optional.empty();
    }
    Optional<Long> value = first.kind() == Kind.NUMBER ? whole(first.text()) : Optional.empty();
    if (value.isEmpty()) {
      String hint = "write a number such as 64";
      problems.error(first, key + " is " + first.phrase() + ", not a whole number", hint);
      rest.skip(first);
    }
    return value;
  }

  private static Optional<Long> whole(String number) {
    try {
      return Optional.of(Long.parseLong(number));
    } catch (NumberFormatException _) {
      // 64.0 and 1e3 are whole numbers too; what a long cannot hold is not.
      double value = Double.parseDouble(number);
      boolean whole = value == Math.rint(value) && Math.abs(value) < 0x1p63;
      return whole ? Optional.of((long) value) : Optional.empty();
    }
  }

  static Optional<Duration> interval(String key, Token first, Tokens rest, Problems problems)
      throws SyntaxError {
    String example = "write a duration such as \"60s\" or \"1h30m\"";
    switch (first.kind()) {
      case TEXT -> {
        return interval(key, first, problems);
      }
      case NULL -> problems.error(first, key + " is empty", example + ", or leave the key out");
      case NUMBER ->
          problems.error(
              first,
              key + " is " + first.phrase() + ", not a duration",
              "write \"" + seconds(first.text()) + "s\"");
      case BOOLEAN, MERGE, LIST, LIST_END, MAP, MAP_END, END -> {
        problems.error(first, key + " is " + first.phrase() + ", not a duration", example);
        rest.skip(first);
      }
    }
    return Optional.empty();
  }

  private static String seconds(String number) {
    return number.startsWith("-") || number.equals("0") ? "60" : Words.shortened(number);
  }

  private static Optional<Duration> interval(String key, Token token, Problems problems) {
    return switch (GoDuration.parse(token.text())) {
      case GoDuration.Parsed.Malformed(String reason) -> {
        problems.error(
            token,
            key + ": " + Words.shortened(reason),
            "write numbers with the units h, m, s, ms, us or ns, such as \"60s\" or \"1h30m\"");
        yield Optional.empty();
      }
      case GoDuration.Parsed.Value(Duration value) when !value.isPositive() -> {
        problems.error(
            token,
            key + " is " + Words.quoted(token.text()) + ", but must be more than zero",
            "write \"60s\"");
        yield Optional.empty();
      }
      case GoDuration.Parsed.Value(Duration value) when value.compareTo(SHORTEST) < 0 -> {
        problems.warning(
            token,
            key + " is " + Words.quoted(token.text()) + ", raised to 100ms",
            "write \"100ms\" or more");
        yield Optional.of(SHORTEST);
      }
      case GoDuration.Parsed.Value(Duration value) -> Optional.of(value);
    };
  }

  static Optional<List<PortRange>> ports(String key, Token first, Tokens rest, Problems problems)
      throws SyntaxError {
    if (first.kind() == Kind.NULL) {
      return Optional.empty();
    }
    Listed<List<PortRange>> parts =
        oneOrList(Elements::ports).decode(key, first, rest, problems).orElseThrow();
    List<PortRange> ranges = new ArrayList<>();
    parts.values().forEach(ranges::addAll);
    return Optional.of(ranges);
  }

  static Optional<String> chain(String key, Token first, Tokens rest, Problems problems)
      throws SyntaxError {
    if (first.kind() == Kind.NULL) {
      return Optional.empty();
    }
    if (first.kind() == Kind.TEXT) {
      switch (ChainName.parse(first.text())) {
        case ChainName.Parsed.Name(String name) -> {
          return Optional.of(name);
        }
        case ChainName.Parsed.Malformed(String reason) ->
            problems.error(first, key + ": " + reason, "write a name such as \"IP-MASQ-AGENT\"");
      }
    } else {
      String hint = "put the name in quotes";
      problems.error(first, key + " is " + first.phrase() + ", not a name", hint);
      rest.skip(first);
    }
    return Optional.empty();
  }

  /** One of a few words. */
  static <T> Decoder<T> choice(Map<String, T> words) {
    return (key, first, rest, problems) -> {
      if (first.kind() == Kind.NULL) {
        return Optional.empty();
      }
      T value = first.kind() == Kind.TEXT ? words.get(first.text()) : null;
      if (value == null) {
        List<String> sorted = new ArrayList<>(words.keySet());
        sorted.sort(null);
        problems.error(
            first, key + " is " + first.phrase(), "write one of " + String.join(", ", sorted));
        rest.skip(first);
      }
      return Optional.ofNullable(value);
    };
  }
}
