package ipmasq.config;

import static ipmasq.config.ValueType.ordered;

import ipmasq.config.Value.Kind;
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
import java.util.function.Function;
import java.util.function.Supplier;

/** Types of lists, and of values that may be a single value or a list. */
final class ListTypes {
  private static final int MAX_INTERFACE_NAME = 15;

  private ListTypes() {}

  /** The element of a list; its name is built on demand, since almost all are fine. */
  private record Element(String key, int number, Value value, Problems problems) {
    void mismatch(String wanted, String hint) {
      String name = number == 0 ? key : "element " + number + " of " + key;
      problems.error(value, name + " is " + value.phrase() + wanted, hint);
    }
  }

  /** Reads an element and hands over its value or values; or reports what is wrong with it. */
  private interface ElementReader<E> {
    void read(Element element, Consumer<E> values);
  }

  /**
   * @param reader reads an element
   * @param alone whether a single element needs no list
   * @param elementSchema the schema of an element
   * @param list makes the list to collect elements in
   * @param copier makes it immutable
   * @param flag reads the text of a flag
   * @param writer the list as JSON would have it
   */
  private record ListType<E, L extends List<E>>(
      ElementReader<E> reader,
      boolean alone,
      Map<String, Object> elementSchema,
      Supplier<List<E>> list,
      Function<List<E>, L> copier,
      Function<String, Parsed<L>> flag,
      Function<L, Object> writer)
      implements ValueType<L> {
    @Override
    public Optional<L> read(Input in) {
      List<E> found = list.get();
      Value value = in.value();
      if (value.kind() == Kind.LIST) {
        int number = 1;
        for (Value element : value.elements()) {
          one(in, number++, element, found);
        }
      } else if (value.kind() == Kind.NULL) {
        in.places().add(value);
      } else if (alone) {
        one(in, 0, value, found);
      } else {
        return in.mismatch(", not a list", listHint(value));
      }
      return Optional.of(copier.apply(found));
    }

    private void one(Input in, int number, Value value, List<E> found) {
      Element element = new Element(in.key(), number, value, in.problems());
      if (value.kind() == Kind.NULL) {
        element.mismatch("", "write a value, or remove the element");
        return;
      }
      reader.read(
          element,
          each -> {
            found.add(each);
            in.places().add(value);
          });
    }

    @Override
    public Parsed<L> parse(String text) {
      return flag.apply(text);
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
    public Object json(L value) {
      return writer.apply(value);
    }

    @Override
    public L copy(L value) {
      return copier.apply(value);
    }
  }

  private static <E> ListType<E, List<E>> listOf(
      ElementReader<E> reader, Map<String, Object> elementSchema) {
    return new ListType<>(
        reader,
        true,
        elementSchema,
        ArrayList::new,
        List::copyOf,
        ListTypes::noFlag,
        ListTypes::texts);
  }

  private static <L> ValueType.Parsed<L> noFlag(String text) {
    throw new IllegalStateException("this key has no flag: " + text);
  }

  private static List<String> texts(List<?> values) {
    return values.stream().map(Object::toString).toList();
  }

  private static String listHint(Value value) {
    String text = value.text();
    if (text.startsWith("-")) {
      return "a space belongs after the dash";
    }
    int dash = text.indexOf(" - ");
    if (value.kind() == Kind.TEXT && dash > 0) {
      return "a dash is missing: \"- " + Phrases.shortened(text.substring(0, dash)) + "\"";
    }
    return value.kind() == Kind.TEXT && text.indexOf('\n') < 0
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

  /** Blocks of addresses. */
  static final ValueType<Cidrs> CIDRS =
      new ListType<>(
          ListTypes::cidr,
          false,
          ordered(
              "type",
              "string",
              "pattern",
              "^([0-9]{1,3}(\\.[0-9]{1,3}){3}|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)/[0-9]{1,3}$"),
          ArrayList::new,
          Cidrs::copyOf,
          ListTypes::noFlag,
          ListTypes::texts);

  private static void cidr(Element element, Consumer<Cidr> values) {
    Value value = element.value();
    String example = "write an address, a slash and a length, such as \"10.0.0.0/8\"";
    if (value.kind() != Kind.TEXT) {
      element.mismatch(", not a CIDR", example);
      return;
    }
    String text = value.text();
    String what = "CIDR " + Phrases.quoted(text);
    switch (Cidr.parse(text)) {
      case Cidr.Parsed.Block(Cidr cidr) -> values.accept(cidr);
      case Cidr.Parsed.Misaligned(Ip ip, Cidr network) ->
          element
              .problems()
              .error(
                  value,
                  what
                      + " is not aligned to a CIDR block, ip: \""
                      + ip
                      + "\" network: \""
                      + network
                      + "\"",
                  "write \"%s\", or \"%s/%d\" for one address"
                      .formatted(network, ip, ip.family().bits()));
      case Cidr.Parsed.V4Mapped() ->
          element
              .problems()
              .error(
                  value,
                  what + " is IPv4 written as IPv6, which matches no packet",
                  "write it as IPv4, such as \"10.0.0.0/8\"");
      case Cidr.Parsed.Malformed() ->
          element
              .problems()
              .error(
                  value,
                  what + " could not be parsed, invalid CIDR address: " + Phrases.shortened(text),
                  cidrHint(text).orElse(example));
    }
  }

  /** A suggestion for a misspelled value. */
  private static Optional<String> cidrHint(String text) {
    if (Cidr.parse(text.strip()) instanceof Cidr.Parsed.Block(Cidr cidr)) {
      return Optional.of("remove the spaces: \"" + cidr + "\"");
    }
    Optional<Ip> ip = Ip.parse(text);
    if (ip.isPresent()) {
      return Optional.of("add the length: \"" + ip.get() + "/" + ip.get().family().bits() + "\"");
    }
    if (text.indexOf(',') >= 0) {
      return Optional.of("write one range per element: " + apart(text));
    }
    if (text.strip().indexOf(' ') >= 0) {
      return Optional.of("write one range per element, each after a dash; is a dash missing?");
    }
    int slash = text.indexOf('/');
    return (slash < 0 ? Optional.<Ip>empty() : Ip.parse(text.substring(0, slash)))
        .map(Ip::family)
        .map(
            family ->
                "the length of an " + family + " range is a number from 0 to " + family.bits());
  }

  /** Names of network interfaces. */
  static final ValueType<List<String>> INTERFACES =
      listOf(
          (element, values) -> {
            Value value = element.value();
            String fault =
                value.kind() == Kind.TEXT ? interfaceFault(value.text()) : ", not a name";
            if (fault.isEmpty()) {
              values.accept(value.text());
            } else {
              element.mismatch(
                  fault,
                  "write the name of a network interface such as \"eth0\", or \"eth+\" for all that"
                      + " begin so");
            }
          },
          ordered(
              "type",
              "string",
              "minLength",
              1,
              "maxLength",
              MAX_INTERFACE_NAME,
              "pattern",
              "^[^\\s/:\"'\\\\`+!-][^\\s/:\"'\\\\`+]*\\+?$|^\\+$"));

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
      listOf(
          (element, values) ->
              Optional.of(element.value())
                  .filter(value -> value.kind() == Kind.TEXT)
                  .flatMap(value -> IpRange.parse(value.text()))
                  .ifPresentOrElse(
                      values,
                      () ->
                          element.mismatch(
                              ", not an address or a range of addresses",
                              "write \"192.0.2.1\" or \"192.0.2.1-192.0.2.9\"")),
          ordered("type", "string", "pattern", "^[0-9A-Fa-f:.]+(-[0-9A-Fa-f:.]+)?$"));

  /** Ports and ranges of them; a text may hold several. */
  static final ValueType<List<PortRange>> PORTS =
      new ListType<>(
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
              65535),
          ArrayList::new,
          List::copyOf,
          ToPorts::parse,
          ranges -> String.join(",", texts(ranges)));

  private static void ports(Element element, Consumer<PortRange> values) {
    Value value = element.value();
    String reason = "not ports";
    if (value.kind() == Kind.TEXT || value.kind() == Kind.NUMBER) {
      switch (ToPorts.parse(value.text())) {
        case ValueType.Parsed.Valid<List<PortRange>>(var ranges) -> {
          ranges.forEach(values);
          return;
        }
        case ValueType.Parsed.Malformed<List<PortRange>>(String why) -> reason = why;
      }
    }
    element.mismatch(": " + reason, "write ports such as \"1024-29999,32768-65535\"");
  }
}
