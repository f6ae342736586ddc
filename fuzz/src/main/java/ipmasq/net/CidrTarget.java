package ipmasq.net;

import static java.nio.charset.StandardCharsets.UTF_8;

/** What parses as a block prints as one that parses to the same. */
public final class CidrTarget {
  private CidrTarget() {}

  public static void fuzzerTestOneInput(byte[] data) {
    String text = new String(data, UTF_8);
    switch (Cidr.parse(text)) {
      case Cidr.Parsed.Block(var cidr) -> {
        require(cidr.equals(Cidr.of(cidr.toString())), cidr);
        require(cidr.contains(cidr.first()) && cidr.contains(cidr.last()), cidr);
      }
      case Cidr.Parsed.Misaligned(var ip, var network) -> {
        require(network.contains(ip) && !network.first().equals(ip), network);
      }
      case Cidr.Parsed.V4Mapped() -> {}
      case Cidr.Parsed.Malformed() -> {}
    }
    IpRange.parse(text)
        .ifPresent(range -> require(range.first().compareTo(range.last()) <= 0, range));
  }

  private static void require(boolean holds, Object of) {
    if (!holds) {
      throw new AssertionError(of.toString());
    }
  }
}
