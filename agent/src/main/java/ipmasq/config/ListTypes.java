package ipmasq.config;

import ipmasq.config.Type.Input;
import ipmasq.config.Value.Kind;
import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.snakeyaml.engine.v2.nodes.Node;

/** Types of lists, and of values that may be a single value or a list. */
final class ListTypes {
  private static final int MAX_INTERFACE_NAME = 15;
  private static final Pattern PORTS_PART =
      Pattern.compile("\\+?0*([0-9]{1,5})(-\\+?0*([0-9]{1,5}))?");

  private ListTypes() {}

  private interface ElementDecoder<E> {
    /** Adds an element's value or values to the list, or reports what is wrong with it. */
    void decode(Input element, List<E> found);
  }

  /** Blocks of addresses. */
  static final Type<Cidrs> CIDRS =
      new Type<>(
          in ->
              in.value().kind() == Kind.LIST || in.value().kind() == Kind.NULL
                  ? Optional.of(Cidrs.copyOf(elements(in, ListTypes::cidr)))
                  : in.mismatch(", not a list", listHint(in.value())),
          ListTypes::texts,
          (first, next) -> Optional.of(first.followedBy(next).distinct()));

  /** Names of network interfaces. */
  static final Type<List<String>> INTERFACES =
      oneOrList(ListTypes::interfaceName, ListTypes::texts, ListTypes::unite);

  /** Addresses and ranges of them. */
  static final Type<List<IpRange>> ADDRESSES =
      oneOrList(ListTypes::addresses, ListTypes::texts, ListTypes::unite);

  /** Ports and ranges of them; a text may hold several. */
  static final Type<List<PortRange>> PORTS =
      oneOrList(ListTypes::ports, ranges -> String.join(",", texts(ranges)), Type.Merge::agree);

  private static <E> Type<List<E>> oneOrList(
      ElementDecoder<E> decoder, Function<List<E>, Object> json, Type.Merge<List<E>> merge) {
    return new Type<>(in -> Optional.of(List.copyOf(elements(in, decoder))), json, merge);
  }

  /** The elements of a list, or a single one without a list; none of null. */
  private static <E> List<E> elements(Input in, ElementDecoder<E> decoder) {
    List<E> found = new ArrayList<>();
    if (in.value().kind() == Kind.LIST) {
      int number = 0;
      for (Node node : in.value().elements()) {
        Input element = in.element(++number, Value.of(node));
        if (element.value().kind() == Kind.NULL) {
          element.mismatch("", "write a value, or remove the element");
        } else {
          decoder.decode(element, found);
        }
        while (in.elements().size() < found.size()) {
          in.elements().add(node);
        }
      }
    } else if (in.value().kind() != Kind.NULL) {
      decoder.decode(in, found);
      found.forEach(_ -> in.elements().add(in.value().node()));
    }
    return found;
  }

  private static List<String> texts(List<?> values) {
    return values.stream().map(Object::toString).toList();
  }

  private static <E> Optional<List<E>> unite(List<E> first, List<E> next) {
    return Optional.of(Stream.concat(first.stream(), next.stream()).distinct().toList());
  }

  private static String listHint(Value value) {
    String text = value.text();
    if (text.startsWith("-")) {
      return "a space belongs after the dash";
    }
    int dash = text.indexOf(" - ");
    if (value.kind() == Kind.TEXT && dash > 0) {
      return "a dash is missing: \"- " + Words.shortened(text.substring(0, dash)) + "\"";
    }
    return value.kind() == Kind.TEXT && text.indexOf('\n') < 0
        ? "write a list: [" + apart(text) + "]"
        : "write a list: one element per line, each after a dash";
  }

  /** The parts of a text divided by commas or spaces, each in quotes. */
  private static String apart(String text) {
    List<String> parts =
        Arrays.stream(text.split("[,\\s]+")).filter(part -> !part.isEmpty()).toList();
    return parts.stream().limit(3).map(Words::quoted).collect(Collectors.joining(", "))
        + (parts.size() > 3 ? ", …" : "");
  }

  private static void cidr(Input in, List<Cidr> found) {
    String example = "write an address, a slash and a length, such as \"10.0.0.0/8\"";
    if (in.value().kind() != Kind.TEXT) {
      in.mismatch(", not a CIDR", example);
      return;
    }
    String text = in.value().text();
    switch (Cidr.parse(text)) {
      case Cidr.Parsed.Block(Cidr cidr) -> found.add(cidr);
      case Cidr.Parsed.Misaligned(Ip ip, Cidr network) ->
          in.error(
              "CIDR %s is not aligned to a CIDR block, ip: \"%s\" network: \"%s\""
                  .formatted(Words.quoted(text), ip, network),
              "write \"%s\", or \"%s/%d\" for one address"
                  .formatted(network, ip, ip.family().bits()));
      case Cidr.Parsed.V4Mapped() ->
          in.error(
              "CIDR " + Words.quoted(text) + " is IPv4 written as IPv6, which matches no packet",
              "write it as IPv4, such as \"10.0.0.0/8\"");
      case Cidr.Parsed.Malformed() ->
          in.error(
              "CIDR %s could not be parsed, invalid CIDR address: %s"
                  .formatted(Words.quoted(text), Words.shortened(text)),
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
    return Ip.parse(text.replaceFirst("/.*", ""))
        .map(Ip::family)
        .map(
            family ->
                "the length of an " + family + " range is a number from 0 to " + family.bits());
  }

  private static void interfaceName(Input in, List<String> found) {
    String text = in.value().text();
    boolean good =
        in.value().kind() == Kind.TEXT
            && text.length() <= MAX_INTERFACE_NAME
            && text.matches("[!-~&&[^/:\"'\\\\`+!-]][!-~&&[^/:\"'\\\\`+]]*\\+?|\\+")
            && !text.matches("\\.\\.?");
    if (good) {
      found.add(text);
    } else {
      in.mismatch(
          ", not the name of an interface",
          "write one of at most 15 characters such as \"eth0\", or \"eth+\" for all that begin so");
    }
  }

  private static void addresses(Input in, List<IpRange> found) {
    Optional<IpRange> range =
        in.value().kind() == Kind.TEXT ? IpRange.parse(in.value().text()) : Optional.empty();
    range.ifPresentOrElse(
        found::add,
        () ->
            in.mismatch(
                ", not an address or a range of addresses",
                "write \"192.0.2.1\" or \"192.0.2.1-192.0.2.9\""));
  }

  private static void ports(Input in, List<PortRange> found) {
    OptionalLong number = in.value().whole();
    String text = number.isPresent() ? "" + number.getAsLong() : in.value().text();
    boolean none = text.isEmpty() && in.value().kind() == Kind.TEXT;
    for (String part : none ? new String[0] : text.split(",", -1)) {
      Matcher range = PORTS_PART.matcher(part);
      int first = range.matches() ? Integer.parseInt(range.group(1)) : 0;
      int last = first == 0 || range.group(3) == null ? first : Integer.parseInt(range.group(3));
      if (first == 0 || last < first || last > 65535) {
        in.mismatch(
            ", not ports from 1 to 65535",
            "write ports such as \"1024-29999,32768-65535\", without spaces");
        return;
      }
      found.add(new PortRange(first, last));
    }
  }
}
