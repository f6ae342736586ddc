package ipmasq.config;

import static ipmasq.config.ScalarTypes.ordered;

import ipmasq.config.Token.TokenKind;
import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Types of lists, and of values that may be a single value or a list. */
final class ListTypes {
  private static final int MAX_INTERFACE_NAME = 15;

  private ListTypes() {}

  /**
   * The name of a value in messages: built on demand, since almost all of a million elements are
   * fine.
   */
  private record Name(String key, int number) {
    @Override
    public String toString() {
      return number == 0 ? key : "element " + number + " of " + key;
    }
  }

  /** Reads an element and hands over its value or values; or reports what is wrong with it. */
  private interface Element<E> {
    void read(Name name, Token token, Problems problems, Consumer<E> values);
  }

  /**
   * @param alone whether a single element needs no list
   * @param elementSchema the schema of an element
   */
  private record ListOf<E>(Element<E> element, boolean alone, Map<String, Object> elementSchema)
      implements ValueType<List<E>> {
    @Override
    public Optional<List<E>> read(Input in) throws SyntaxError {
      List<E> list = new ArrayList<>();
      readInto(in, list);
      return Optional.of(list);
    }

    void readInto(Input in, List<E> list) throws SyntaxError {
      Token first = in.first();
      if (first.kind() == TokenKind.LIST) {
        elements(in, list);
      } else if (first.kind() == TokenKind.NULL) {
        in.places().add(first);
      } else if (alone) {
        one(in, new Name(in.key(), 0), first, list);
      } else {
        in.mismatch(", not a list", listHint(first));
      }
    }

    private void elements(Input in, List<E> list) throws SyntaxError {
      int number = 1;
      for (Token at = in.rest().next(); at.kind() != TokenKind.LIST_END; at = in.rest().next()) {
        Name name = new Name(in.key(), number++);
        if (at.kind() == TokenKind.NULL) {
          in.problems().error(at, name + " is empty", "write a value, or remove the element");
        } else {
          one(in, name, at, list);
        }
      }
    }

    private void one(Input in, Name name, Token at, List<E> list) throws SyntaxError {
      element.read(
          name,
          at,
          in.problems(),
          value -> {
            list.add(value);
            in.places().add(at);
          });
      in.rest().skip(at);
    }

    /** One element, as flags have it. */
    @Override
    public ParsedValue<List<E>> parse(String text) {
      List<E> list = new ArrayList<>();
      Problems problems = new Problems("");
      Token token = new Token(TokenKind.TEXT, text, text, 0, 0);
      element.read(new Name("it", 0), token, problems, list::add);
      return problems.anyError()
          ? new ParsedValue.MalformedValue<>(problems.list().getFirst().message())
          : new ParsedValue.Value<>(list);
    }

    @Override
    public Map<String, Object> schema() {
      return alone
          ? Map.of(
              "oneOf",
              List.of(
                  elementSchema,
                  ordered("type", "array", "items", elementSchema),
                  Map.of("type", "null")))
          : ordered("type", List.of("array", "null"), "items", elementSchema);
    }

    @Override
    public Object json(List<E> value) {
      return value.stream().map(Object::toString).toList();
    }

    @Override
    public List<E> copy(List<E> value) {
      return List.copyOf(value);
    }
  }

  private static String listHint(Token value) {
    String text = value.text();
    if (text.startsWith("-")) {
      return "a space belongs after the dash";
    }
    int dash = text.indexOf(" - ");
    if (value.kind() == TokenKind.TEXT && dash > 0) {
      return "a dash is missing: \"- " + Phrases.shortened(text.substring(0, dash)) + "\"";
    }
    return value.kind() == TokenKind.TEXT && text.indexOf('\n') < 0
        ? "write a list: [" + apart(text) + "]"
        : "write a list: one element per line, each after a dash";
  }

  /** The parts of a text divided by commas or spaces, each in quotes. */
  private static String apart(String text) {
    List<String> parts = new ArrayList<>();
    for (String part : text.split("[,\\s]+")) {
      if (!part.isEmpty()) {
        parts.add(Phrases.quoted(part));
      }
    }
    return String.join(", ", parts.size() > 3 ? parts.subList(0, 3) : parts)
        + (parts.size() > 3 ? ", …" : "");
  }

  /** Blocks of addresses, in memory as numbers. */
  static final ValueType<Cidrs> CIDRS =
      new ValueType<>() {
        private final ListOf<Cidr> list =
            new ListOf<>(
                ListTypes::cidr,
                false,
                ordered(
                    "type",
                    "string",
                    "pattern",
                    "^([0-9]{1,3}(\\.[0-9]{1,3}){3}|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)/[0-9]{1,3}$"));

        @Override
        public Optional<Cidrs> read(Input in) throws SyntaxError {
          Cidrs.Collector collector = new Cidrs.Collector();
          list.readInto(in, collector);
          return Optional.of(Cidrs.copyOf(collector));
        }

        @Override
        public ParsedValue<Cidrs> parse(String text) {
          return switch (list.parse(text)) {
            case ParsedValue.Value<List<Cidr>>(var blocks) ->
                new ParsedValue.Value<>(Cidrs.copyOf(blocks));
            case ParsedValue.MalformedValue<List<Cidr>>(var reason) ->
                new ParsedValue.MalformedValue<>(reason);
          };
        }

        @Override
        public Map<String, Object> schema() {
          return list.schema();
        }

        @Override
        public Object json(Cidrs value) {
          return list.json(value);
        }
      };

  private static void cidr(Name name, Token token, Problems problems, Consumer<Cidr> values) {
    if (token.kind() != TokenKind.TEXT) {
      problems.error(
          token,
          name + " is " + token.phrase() + ", not a CIDR",
          "write an address, a slash and a length, such as \"10.0.0.0/8\"");
      return;
    }
    String text = token.text();
    switch (Cidr.parse(text)) {
      case Cidr.ParsedCidr.Block(Cidr cidr) -> values.accept(cidr);
      case Cidr.ParsedCidr.Misaligned(Ip ip, Cidr network) ->
          problems.error(
              token,
              "CIDR "
                  + Phrases.quoted(text)
                  + " is not aligned to a CIDR block, ip: \""
                  + ip
                  + "\" network: \""
                  + network
                  + "\"",
              "write \""
                  + network
                  + "\", or \""
                  + ip
                  + "/"
                  + ip.family().bits()
                  + "\" for one address");
      case Cidr.ParsedCidr.V4Mapped() ->
          problems.error(
              token,
              "CIDR " + Phrases.quoted(text) + " is IPv4 written as IPv6, which matches no packet",
              "write it as IPv4, such as \"10.0.0.0/8\"");
      case Cidr.ParsedCidr.MalformedCidr() ->
          problems.error(
              token,
              "CIDR "
                  + Phrases.quoted(text)
                  + " could not be parsed, invalid CIDR address: "
                  + Phrases.shortened(text),
              cidrHint(text));
    }
  }

  /** A suggestion for a misspelled value. */
  private static String cidrHint(String text) {
    if (Cidr.parse(text.strip()) instanceof Cidr.ParsedCidr.Block(Cidr cidr)) {
      return "remove the spaces: \"" + cidr + "\"";
    }
    Optional<Ip> ip = Ip.parse(text);
    if (ip.isPresent()) {
      return "add the length: \"" + ip.get() + "/" + ip.get().family().bits() + "\"";
    }
    if (text.indexOf(',') >= 0) {
      return "write one range per element: " + apart(text);
    }
    if (text.strip().indexOf(' ') >= 0) {
      return "write one range per element, each after a dash; is a dash missing?";
    }
    int slash = text.indexOf('/');
    Optional<Ip> network = slash < 0 ? Optional.empty() : Ip.parse(text.substring(0, slash));
    if (network.isPresent()) {
      return "the length of an "
          + network.get().family()
          + " range is a number from 0 to "
          + network.get().family().bits();
    }
    return "write an address, a slash and a length, such as \"10.0.0.0/8\"";
  }

  /** Names of network interfaces. */
  static final ValueType<List<String>> INTERFACES =
      new ListOf<>(
          ListTypes::networkInterface,
          true,
          ordered(
              "type",
              "string",
              "minLength",
              1,
              "maxLength",
              MAX_INTERFACE_NAME,
              "pattern",
              "^[^\\s/:\"'\\\\`+!-][^\\s/:\"'\\\\`+]*\\+?$|^\\+$"));

  private static void networkInterface(
      Name name, Token token, Problems problems, Consumer<String> values) {
    String fault = token.kind() == TokenKind.TEXT ? interfaceFault(token.text()) : ", not a name";
    if (fault.isEmpty()) {
      values.accept(token.text());
      return;
    }
    problems.error(
        token,
        name + " is " + token.phrase() + fault,
        "write the name of a network interface such as \"eth0\", or \"eth+\" for all that begin so");
  }

  private static String interfaceFault(String name) {
    if (name.isEmpty() || name.equals(".") || name.equals("..")) {
      return ", not a name";
    }
    if (name.length() > MAX_INTERFACE_NAME) {
      return ", longer than 15 characters";
    }
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      boolean first = i == 0 && (c == '-' || c == '!');
      boolean plus = c == '+' && i < name.length() - 1;
      if (first || plus || c <= ' ' || c > '~' || "/:\"'\\`".indexOf(c) >= 0) {
        return ", with a " + (c == ' ' ? "space" : String.valueOf(c)) + " where none may be";
      }
    }
    return "";
  }

  /** Addresses and ranges of them. */
  static final ValueType<List<IpRange>> ADDRESSES =
      new ListOf<>(
          ListTypes::addresses,
          true,
          ordered("type", "string", "pattern", "^[0-9A-Fa-f:.]+(-[0-9A-Fa-f:.]+)?$"));

  private static void addresses(
      Name name, Token token, Problems problems, Consumer<IpRange> values) {
    Optional<IpRange> range =
        token.kind() == TokenKind.TEXT ? IpRange.parse(token.text()) : Optional.empty();
    if (range.isEmpty()) {
      problems.error(
          token,
          name + " is " + token.phrase() + ", not an address or a range of addresses",
          "write \"192.0.2.1\" or \"192.0.2.1-192.0.2.9\"");
    }
    range.ifPresent(values);
  }

  /** Ports and ranges of them; a text may hold several. */
  static final ValueType<List<PortRange>> PORTS =
      new ValueType<>() {
        private final ListOf<PortRange> list =
            new ListOf<>(
                ListTypes::ports,
                true,
                ordered(
                    "type",
                    List.of("string", "integer"),
                    "pattern",
                    "^(\\+?[0-9]+(-\\+?[0-9]+)?(,\\+?[0-9]+(-\\+?[0-9]+)?)*)?$",
                    "minimum",
                    1,
                    "maximum",
                    65535));

        @Override
        public Optional<List<PortRange>> read(Input in) throws SyntaxError {
          return in.first().kind() == TokenKind.NULL ? Optional.empty() : list.read(in);
        }

        @Override
        public ParsedValue<List<PortRange>> parse(String text) {
          return switch (ToPorts.parse(text)) {
            case ToPorts.ParsedPorts.PortRanges(var ranges) -> new ParsedValue.Value<>(ranges);
            case ToPorts.ParsedPorts.MalformedPorts(String reason) ->
                new ParsedValue.MalformedValue<>(reason);
          };
        }

        @Override
        public Map<String, Object> schema() {
          return list.schema();
        }

        @Override
        public Object json(List<PortRange> value) {
          return String.join(",", value.stream().map(PortRange::toString).toList());
        }

        @Override
        public List<PortRange> copy(List<PortRange> value) {
          return List.copyOf(value);
        }
      };

  private static void ports(Name name, Token token, Problems problems, Consumer<PortRange> values) {
    String reason = "not ports";
    if (token.kind() == TokenKind.TEXT || token.kind() == TokenKind.NUMBER) {
      switch (ToPorts.parse(token.text())) {
        case ToPorts.ParsedPorts.PortRanges(List<PortRange> ranges) -> {
          ranges.forEach(values);
          return;
        }
        case ToPorts.ParsedPorts.MalformedPorts(String why) -> reason = why;
      }
    }
    problems.error(
        token,
        name + " is " + token.phrase() + ": " + reason,
        "write ports such as \"1024-29999,32768-65535\"");
  }
}
