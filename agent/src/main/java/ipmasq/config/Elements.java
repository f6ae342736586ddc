package ipmasq.config;

import ipmasq.config.Decoders.Name;
import ipmasq.config.Token.Kind;
import ipmasq.net.Cidr;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import java.util.List;
import java.util.Optional;

/** Readers of the elements of lists. */
final class Elements {
  private static final int MAX_INTERFACE_NAME = 15;

  private Elements() {}

  static Optional<Cidr> cidr(Name name, Token token, Problems problems) {
    if (token.kind() != Kind.TEXT) {
      problems.error(
          token,
          name + " is " + token.phrase() + ", not a CIDR",
          "write an address, a slash and a length, such as \"10.0.0.0/8\"");
      return Optional.empty();
    }
    String text = token.text();
    switch (Cidr.parse(text)) {
      case Cidr.Parsed.Block(Cidr cidr) -> {
        return Optional.of(cidr);
      }
      case Cidr.Parsed.Misaligned(Ip ip, Cidr network) ->
          problems.error(
              token,
              "CIDR "
                  + Words.quoted(text)
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
      case Cidr.Parsed.V4Mapped() ->
          problems.error(
              token,
              "CIDR " + Words.quoted(text) + " is IPv4 written as IPv6, which matches no packet",
              "write it as IPv4, such as \"10.0.0.0/8\"");
      case Cidr.Parsed.Malformed() ->
          problems.error(
              token,
              "CIDR "
                  + Words.quoted(text)
                  + " could not be parsed, invalid CIDR address: "
                  + Words.shortened(text),
              hint(text));
    }
    return Optional.empty();
  }

  /** What somebody may have meant. */
  private static String hint(String text) {
    if (Cidr.parse(text.strip()) instanceof Cidr.Parsed.Block(Cidr cidr)) {
      return "remove the spaces: \"" + cidr + "\"";
    }
    Optional<Ip> ip = Ip.parse(text);
    if (ip.isPresent()) {
      return "add the length: \"" + ip.get() + "/" + ip.get().family().bits() + "\"";
    }
    if (text.indexOf(',') >= 0) {
      return "one CIDR an element";
    }
    return "write an address, a slash and a length, such as \"10.0.0.0/8\"";
  }

  static Optional<String> networkInterface(Name name, Token token, Problems problems) {
    String reason = token.kind() == Kind.TEXT ? interfaceFault(token.text()) : ", not a name";
    if (reason.isEmpty()) {
      return Optional.of(token.text());
    }
    problems.error(
        token,
        name + " is " + token.phrase() + reason,
        "write the name of a network interface such as \"eth0\", or \"eth+\" for all that begin so");
    return Optional.empty();
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

  static Optional<IpRange> addresses(Name name, Token token, Problems problems) {
    Optional<IpRange> range =
        token.kind() == Kind.TEXT ? IpRange.parse(token.text()) : Optional.empty();
    if (range.isEmpty()) {
      problems.error(
          token,
          name + " is " + token.phrase() + ", not an address or a range of addresses",
          "write \"192.0.2.1\" or \"192.0.2.1-192.0.2.9\"");
    }
    return range;
  }

  static Optional<List<PortRange>> ports(Name name, Token token, Problems problems) {
    String reason = "not ports";
    if (token.kind() == Kind.TEXT || token.kind() == Kind.NUMBER) {
      switch (ToPorts.parse(token.text())) {
        case ToPorts.Parsed.Ranges(List<PortRange> ranges) -> {
          return Optional.of(ranges);
        }
        case ToPorts.Parsed.Malformed(String why) -> reason = why;
      }
    }
    problems.error(
        token,
        name + " is " + token.phrase() + ": " + reason,
        "write ports such as \"1024-29999,32768-65535\"");
    return Optional.empty();
  }
}
