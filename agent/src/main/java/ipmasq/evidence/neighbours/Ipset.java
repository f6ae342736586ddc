package ipmasq.evidence.neighbours;

import ipmasq.evidence.neighbours.Cell.Field;
import ipmasq.evidence.neighbours.Step.Test;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.netlink.ipset.IpsetContent;
import ipmasq.netlink.ipset.IpsetElement;
import ipmasq.netlink.ipset.IpsetElement.IpsetBlock;
import ipmasq.netlink.ipset.IpsetKey;
import ipmasq.netlink.ipset.Ipsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * An ipset that a rule asks. A small one of a common type is read, so that open questions can be
 * answered; of any other the kernel is asked for one packet's key.
 *
 * @param parts of its type: {@code ip}, {@code net}, {@code port}
 * @param directions {@code src} or {@code dst}, for each part
 */
record Ipset(Kernel kernel, String name, List<String> parts, List<String> directions, Family family)
    implements Step.Lookup {
  private static final int AF_INET = 2;
  private static final int AF_INET6 = 10;

  /** Protocols whose ports the kernel compares; of ICMP, it is the type. */
  private static final Set<Integer> WITH_PORTS = Set.of(6, 17, 132);

  Ipset {
    parts = List.copyOf(parts);
    directions = List.copyOf(directions);
  }

  /** That a packet is in the set. */
  static Test in(Kernel kernel, String name, List<String> directions, Family family) {
    Optional<Ipsets.Ipset> found = kernel.ipsets(it -> it.find(name));
    if (found.isEmpty()) {
      return Test.UNJUDGED;
    }
    String type = found.get().type();
    List<String> parts = List.of(type.substring(type.indexOf(':') + 1).split(",", -1));
    int afFamily = found.get().family();
    if (afFamily != 0 && afFamily != (family == Family.IPV4 ? AF_INET : AF_INET6)
        || directions.size() < parts.size()) {
      return Step.In.NEVER; // the kernel finds nothing then
    }
    Ipset set = new Ipset(kernel, name, parts, directions, family);
    return set.content().map(Test::of).orElse(new Step.Member(set));
  }

  /** The box of each element; empty if they are too many, or more than plain elements. */
  private Optional<List<Box>> content() {
    if (parts.stream().anyMatch(it -> field(it, 0).isEmpty())) {
      return Optional.empty();
    }
    Optional<IpsetContent> content = kernel.ipsets(it -> it.content(name, NftSets.MOST_ELEMENTS));
    if (content.isPresent() && !content.get().whole()) {
      kernel.close(); // its socket is unusable now
    }
    if (content.filter(it -> it.whole() && !it.expires() && !it.masked()).isEmpty()) {
      return Optional.empty();
    }
    List<Box> boxes = new ArrayList<>();
    for (IpsetElement element : content.get().elements()) {
      Optional<Box> box = element.except() ? Optional.empty() : box(element);
      if (box.isEmpty()) {
        return Optional.empty();
      }
      boxes.add(box.get());
    }
    return Optional.of(boxes);
  }

  private Optional<Box> box(IpsetElement element) {
    Optional<Box> box = Optional.of(Box.ALL);
    boolean second = false;
    for (int i = 0; i < parts.size(); i++) {
      Field field = field(parts.get(i), i).orElseThrow();
      if (parts.get(i).equals("port")) {
        int protocol = element.protocol();
        if (!WITH_PORTS.contains(protocol) || element.port() == 0) {
          return Optional.empty();
        }
        Box port = Box.of(field, Interval.of(element.port(), element.port()));
        box =
            box.flatMap(it -> it.and(port))
                .flatMap(it -> it.and(Box.of(Field.PROTOCOL, Interval.of(protocol, protocol))));
      } else {
        Optional<IpsetBlock> block = second ? element.second() : element.first();
        second = true;
        box =
            box.flatMap(
                it ->
                    block
                        .filter(of -> of.address().length == family.bytes())
                        .map(of -> Cidr.around(Ip.ofBytes(of.address()), of.prefix()))
                        .flatMap(of -> it.and(Box.of(field, Interval.of(of)))));
      }
    }
    return box;
  }

  /** What a part of the type is compared to; empty if that is something else. */
  private Optional<Field> field(String part, int at) {
    boolean source = directions.get(at).equals("src");
    return switch (part) {
      case "ip", "net" -> Optional.of(source ? Field.SOURCE : Field.DESTINATION);
      case "port" -> Optional.of(source ? Field.SOURCE_PORT : Field.PORT);
      default -> Optional.empty();
    };
  }

  @Override
  public Optional<Boolean> has(Cell cell) {
    IpsetKey key = null;
    for (int i = 0; i < parts.size(); i++) {
      Interval side = field(parts.get(i), i).map(cell::get).orElse(cell.get(Field.PROTOCOL));
      Interval protocol = cell.get(Field.PROTOCOL);
      if (!side.isSingle() || field(parts.get(i), i).isEmpty()) {
        return Optional.empty();
      }
      if (!parts.get(i).equals("port")) {
        byte[] address = side.bytes(family.bytes());
        key = key == null ? IpsetKey.address(address) : key.withSecond(address);
      } else if (key != null
          && protocol.isSingle()
          && WITH_PORTS.contains(protocol.first().intValue())) {
        key = key.withPort(protocol.first().intValue(), side.first().intValue());
      } else {
        return Optional.empty();
      }
    }
    IpsetKey asked = key;
    return asked == null ? Optional.empty() : kernel.ipsets(it -> it.test(name, asked));
  }
}
