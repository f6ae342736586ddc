package ipmasq.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import ipmasq.config.Value.Kind;
import ipmasq.net.GoDuration;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import org.snakeyaml.engine.v2.nodes.Node;

/**
 * A type of values; those of lists are in {@link ListTypes}.
 *
 * @param decoder reads a value
 * @param json the value as JSON would have it
 * @param merge how values from several files become one
 */
record Type<T>(Decoder<T> decoder, Function<T, Object> json, Merge<T> merge) {
  private static final int MAX_CHAIN_BYTES = 28;
  private static final Duration SHORTEST_INTERVAL = Duration.ofMillis(100);

  interface Decoder<T> {
    /**
     * @return empty if the value leaves the default in place, or if it is invalid and the problems
     *     say why
     */
    Optional<T> decode(Input in);
  }

  interface Merge<T> {
    /** Merges two values; empty if they contradict each other. */
    Optional<T> merge(T first, T next);

    /** They must agree. */
    static <T> Optional<T> agree(T first, T next) {
      return first.equals(next) ? Optional.of(first) : Optional.empty();
    }
  }

  /**
   * A value, about to be read.
   *
   * @param key what it is the value of
   * @param number of an element in a list, from 1; else 0
   * @param elements takes the node of each element of the result
   */
  record Input(String key, int number, Value value, List<Node> elements, Problems problems) {
    Input element(int n, Value element) {
      return new Input(key, n, element, elements, problems);
    }

    <T> Optional<T> error(String message, String hint) {
      problems.error(value.place(), message, hint);
      return Optional.empty();
    }

    /** Reports that the value is of another type, or not possible. */
    <T> Optional<T> mismatch(String wanted, String hint) {
      String name = number == 0 ? key : "element " + number + " of " + key;
      return error(name + " is " + value.phrase() + wanted, hint);
    }
  }

  /** One where null leaves the default in place, and several files must agree. */
  private static <T> Type<T> scalar(Decoder<T> decoder, Function<T, Object> json) {
    return new Type<>(orNull(decoder), json, Merge::agree);
  }

  private static <T> Decoder<T> orNull(Decoder<T> decoder) {
    return in -> in.value().kind() == Kind.NULL ? Optional.empty() : decoder.decode(in);
  }

  /** {@code true} or {@code false}, and YAML's other words for them. */
  static final Type<Boolean> BOOLEAN =
      new Type<>(
          orNull(
              in ->
                  // As Go's flags take it.
                  in.value().kind() == Kind.BOOLEAN
                          || in.value().isFlag()
                              && in.value()
                                  .text()
                                  .matches("[01tTfF]|true|TRUE|True|false|FALSE|False")
                      ? Optional.of(in.value().isTrue())
                      : in.mismatch(", not a boolean", "write true or false, without quotes")),
          value -> value,
          (first, next) -> Optional.of(first || next));

  /** A whole number from 0 on, or none. */
  static final Type<OptionalLong> COUNT =
      scalar(
          in -> {
            OptionalLong value = in.value().whole();
            return value.orElse(-1) < 0
                ? in.mismatch(", not a whole number from 0 on", "write a number such as 64")
                : Optional.of(value);
          },
          value -> value.isPresent() ? value.getAsLong() : "");

  /** How often something happens: a Go duration above zero; its flag also takes seconds. */
  static final Type<Duration> INTERVAL =
      new Type<>(
          in -> {
            String text = in.value().text();
            boolean seconds = in.value().isFlag() && text.matches("[0-9]+");
            return interval(seconds ? in.element(0, Value.ofFlag(text + "s")) : in);
          },
          Type::durationText,
          Merge::agree);

  /** How long something lasts: a Go duration above zero, or none. */
  static final Type<Optional<Duration>> PERIOD =
      scalar(
          in -> {
            Optional<Duration> period = interval(in);
            return period.isPresent() ? Optional.of(period) : Optional.empty();
          },
          value -> value.map(Type::durationText).orElse(""));

  private static Optional<Duration> interval(Input in) {
    String text = in.value().text();
    if (in.value().kind() != Kind.TEXT) {
      return in.mismatch(
          ", not a duration",
          in.value().kind() == Kind.NUMBER && !text.matches("-.*|0")
              ? "write \"" + Words.shortened(text) + "s\""
              : "write a duration such as \"60s\" or \"1h30m\", or leave the key out");
    }
    return switch (GoDuration.parse(text)) {
      case GoDuration.Parsed.Malformed(String reason) ->
          in.error(
              in.key() + ": " + Words.shortened(reason),
              "write numbers with the units h, m, s, ms, us or ns, such as \"60s\" or \"1h30m\"");
      case GoDuration.Parsed.Valid(Duration value) when !value.isPositive() ->
          in.mismatch(", but must be more than zero", "write \"60s\"");
      case GoDuration.Parsed.Valid(Duration value) when value.compareTo(SHORTEST_INTERVAL) < 0 -> {
        String what = in.key() + " is " + Words.quoted(text) + ", raised to 100ms";
        in.problems().warning(in.value().place(), what, "write at least 100ms");
        yield Optional.of(SHORTEST_INTERVAL);
      }
      case GoDuration.Parsed.Valid(Duration value) -> Optional.of(value);
    };
  }

  /** As Go would write it, in one unit. */
  static String durationText(Duration value) {
    return value.toNanosPart() == 0
        ? value.toSeconds() + "s"
        : value.toNanos() % 1_000_000 == 0 ? value.toMillis() + "ms" : value.toNanos() + "ns";
  }

  /** The name of an iptables chain. */
  static final Type<String> CHAIN =
      scalar(
          in -> {
            String text = in.value().text();
            if (in.value().kind() != Kind.TEXT) {
              return in.mismatch(", not a name", "put the name in quotes");
            }
            String fault = chainFault(text);
            return fault.isEmpty()
                ? Optional.of(text)
                : in.error(
                    in.key() + ": chain " + Words.quoted(text) + fault,
                    "write a name such as \"IP-MASQ-AGENT\"");
          },
          value -> value);

  /** A jump to one of these would be a jump to the target, so iptables refuses such chains. */
  private static final Set<String> TARGETS =
      Set.of(
          """
          ACCEPT AUDIT CHECKSUM CLASSIFY CLUSTERIP CONNMARK CONNSECMARK CT DNAT DNPT DROP DSCP
          ECN HL HMARK IDLETIMER LED LOG MARK MASQUERADE NETMAP NFLOG NFQUEUE NOTRACK QUEUE
          RATEEST REDIRECT REJECT RETURN SECMARK SET SNAT SNPT SYNPROXY TCPMSS TCPOPTSTRIP TEE
          TOS TPROXY TRACE TTL ULOG PREROUTING INPUT FORWARD OUTPUT POSTROUTING
          """
              .split("\\s+"));

  /** Why a text is not a valid name for every iptables; empty if it is. */
  static String chainFault(String text) {
    int bytes = text.getBytes(UTF_8).length;
    if (bytes > MAX_CHAIN_BYTES) {
      return " is too long: " + bytes + " of at most " + MAX_CHAIN_BYTES + " characters";
    }
    if (!text.matches("[^-!\\s\\p{Z}\\p{Cntrl}\"'\\\\`][^\\s\\p{Z}\\p{Cntrl}\"'\\\\`]*")) {
      return ": a name has no white space, quotes or backslashes, and begins with neither - nor !";
    }
    return TARGETS.contains(text) ? " has the name of a target or of a chain of the kernel's" : "";
  }

  /** One of a few words: the names of an enum's constants in small letters. */
  static <E extends Enum<E>> Type<E> choice(Class<E> constants) {
    Map<String, E> words = new LinkedHashMap<>();
    for (E constant : constants.getEnumConstants()) {
      words.put(constant.name().toLowerCase(Locale.ROOT), constant);
    }
    return scalar(
        in -> {
          E value = in.value().kind() == Kind.TEXT ? words.get(in.value().text()) : null;
          return value == null
              ? in.mismatch("", "write one of " + String.join(", ", words.keySet()))
              : Optional.of(value);
        },
        value -> value.name().toLowerCase(Locale.ROOT));
  }
}
