package ipmasq.evidence.neighbours;

import ipmasq.evidence.neighbours.Packets.Field;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.netlink.ipset.IpsetContent;
import ipmasq.netlink.ipset.IpsetElement;
import ipmasq.netlink.ipset.IpsetElement.IpsetBlock;
import ipmasq.netlink.ipset.IpsetKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * An ipset that a rule asks. A small one of a common type is read, so that open questions can be
 * answered; of any other the kernel is asked for one packet's key.
 *
 * @param directions {@code src} or {@code dst}, for each part of an element
 * @param type such as {@code hash:ip,port}
 */
record Ipset(Kernel kernel, String name, List<String> directions, Family family, String type)
    implements Step.Lookup {
  private static final int MOST_ELEMENTS = NftSets.MOST_ELEMENTS;
  private static final int AF_INET = 2;
  private static final int AF_INET6 = 10;

  private static final Set<String> READ =
      Set.of(
          "hash:ip",
          "hash:net",
          "bitmap:ip",
          "hash:ip,port",
          "hash:net,port",
          "hash:ip,port,ip",
          "hash:ip,port,net");

  Ipset {
    directions = List.copyOf(directions);
  }

  /** That a packet is in the set. */
  static Step.Test in(Kernel kernel, String name, List<String> directions, Family family) {
    Optional<ipmasq.netlink.ipset.Ipsets.Ipset> found = kernel.ipsets(it -> it.find(name));
    if (found.isEmpty()) {
      return new Step.Unjudged("ipset " + name);
    }
    String type = found.get().type();
    int afFamily = found.get().family();
    if (afFamily != 0 && afFamily != (family == Family.IPV4 ? AF_INET : AF_INET6)
        || directions.size() < parts(type).length) {
      return new Step.Constant(false); // the kernel finds nothing then
    }
    Ipset set = new Ipset(kernel, name, directions, family, type);
    if (!READ.contains(type)) {
      return new Step.Member(set, false);
    }
    Optional<IpsetContent> content = kernel.ipsets(it -> it.content(name, MOST_ELEMENTS));
    if (content.isPresent() && !content.get().whole()) {
      kernel.close(); // its socket is unusable now
    }
    return content
        .filter(it -> it.whole() && !it.expires() && !it.masked())
        .filter(it -> it.elements().stream().noneMatch(IpsetElement::except))
        .flatMap(it -> set.read(it.elements()))
        .orElse(new Step.Member(set, false));
  }

  /** The test that a packet is one of these; empty if they are of another kind. */
  private Optional<Step.Test> read(List<IpsetElement> elements) {
    if (elements.isEmpty()) {
      return Optional.of(new Step.Constant(false));
    }
    try {
      List<List<Step.Test>> all = new ArrayList<>();
      List<Ranges.Range> ranges = new ArrayList<>();
      for (IpsetElement element : elements) {
        List<Step.Test> one = new ArrayList<>();
        one.add(address(element.first().orElseThrow(IllegalArgumentException::new), 0));
        ranges.addAll(((Step.Is) one.getFirst()).ranges().list());
        if (parts(type).length > 1) {
          int protocol = element.protocol();
          if (protocol != 6 && protocol != 17 && protocol != 132 || element.port() == 0) {
            return Optional.empty();
          }
          Field port = isSource(1) ? Field.SOURCE_PORT : Field.PORT;
          one.add(new Step.Is(Field.PROTOCOL, Ranges.of(protocol, protocol), false));
          one.add(new Step.Is(port, Ranges.of(element.port(), element.port()), false));
          element.second().ifPresent(block -> one.add(address(block, 2)));
        }
        all.add(one);
      }
      return Optional.of(
          parts(type).length == 1
              ? new Step.Is(addressField(0), Ranges.union(ranges), false)
              : new Step.AnyOf(all, false, described()));
    } catch (IllegalArgumentException odd) {
      return Optional.empty(); // not a block
    }
  }

  private Step.Test address(IpsetBlock block, int part) {
    Cidr cidr = new Cidr(Ip.ofBytes(block.address()), block.prefix());
    return new Step.Is(addressField(part), Ranges.of(IpRange.of(cidr)), false);
  }

  private static String[] parts(String type) {
    return type.substring(type.indexOf(':') + 1).split(",", -1);
  }

  private boolean isSource(int part) {
    return directions.get(part).equals("src");
  }

  private Field addressField(int part) {
    return isSource(part) ? Field.SOURCE : Field.DESTINATION;
  }

  @Override
  public String described() {
    return "ipset " + name;
  }

  @Override
  public Optional<Boolean> has(Packets packets) {
    return key(packets).flatMap(key -> kernel.ipsets(it -> it.test(name, key)));
  }

  @Override
  public Optional<Step> action(Packets packets) {
    return Optional.empty(); // it is no map
  }

  /** The packet's key, if all its parts are known. */
  private Optional<IpsetKey> key(Packets packets) {
    Optional<IpsetKey> key = Optional.empty();
    String[] parts = parts(type);
    for (int i = 0; i < parts.length; i++) {
      int part = i;
      switch (parts[i]) {
        case "ip", "net" -> {
          Ranges ranges = packets.get(addressField(i));
          if (!ranges.isSingle()) {
            return Optional.empty();
          }
          byte[] address = Ranges.bytes(ranges.any(), family.bytes());
          key = Optional.of(key.map(k -> k.withSecond(address)).orElse(IpsetKey.address(address)));
        }
        case "port" -> {
          Ranges protocol = packets.get(Field.PROTOCOL);
          Ranges port = packets.get(isSource(part) ? Field.SOURCE_PORT : Field.PORT);
          boolean hasPorts = List.of(6, 17, 132).contains(protocol.any().intValue());
          if (!protocol.isSingle() || !port.isSingle() || !hasPorts) {
            return Optional.empty();
          }
          key = key.map(k -> k.withPort(protocol.any().intValue(), port.any().intValue()));
        }
        default -> {
          return Optional.empty();
        }
      }
    }
    return key;
  }
}
