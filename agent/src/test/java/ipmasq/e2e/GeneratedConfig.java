package ipmasq.e2e;

import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;

/** A config file by chance, the same for the same seed, and destinations worth a packet. */
record GeneratedConfig(
    String text, List<PortRange> ports, List<IpRange> addresses, List<Destination> destinations) {
  private static final int PROBES_FREE = 6;
  private static final String SOURCES_WITH_POD =
      "sourceCIDRs: [10.244.0.0/16, \"fd00:244::/32\"]\n";
  private static final String SOURCES_WITHOUT = "sourceCIDRs: [10.1.0.0/16, \"fd01::/16\"]\n";
  private static final List<IpRange> ADDRESSES =
      List.of(
          new IpRange(Ip.of("192.0.2.50"), Ip.of("192.0.2.53")),
          new IpRange(Ip.of("2001:db8:2::50"), Ip.of("2001:db8:2::50")));

  /** Somewhere to send a packet, and how. */
  record Destination(String text, boolean tcp) {
    InetAddress address() {
      return InetAddress.ofLiteral(text);
    }

    /** Only the node itself can send there. */
    boolean linkLocal6() {
      return text.startsWith("fe80:");
    }
  }

  static GeneratedConfig of(int seed) {
    return new Generation(new Random(seed)).config();
  }

  /** Whether a translated packet may come from this port. */
  boolean allows(int port) {
    return ports.isEmpty() || ports.stream().anyMatch(r -> r.first() <= port && port <= r.last());
  }

  /** The addresses that a translated packet of a family may come from; empty: the node's own. */
  Optional<IpRange> addresses(Family family) {
    return addresses.stream().filter(range -> range.family() == family).findFirst();
  }

  /** The dice and what was thrown so far. */
  private static final class Generation {
    private final Random random;
    private final Set<Cidr> exempt = new LinkedHashSet<>();
    private final Set<Cidr> exceptions = new LinkedHashSet<>();

    Generation(Random random) {
      this.random = random;
    }

    GeneratedConfig config() {
      StringBuilder text = new StringBuilder("enableIPv6: true\n");
      text.append("backend: ").append(one("iptables", "iptables", "nftables")).append('\n');
      boolean listed = random.nextInt(10) > 0;
      if (listed) {
        add(exempt, random.nextInt(9));
        text.append(list("nonMasqueradeCIDRs", exempt));
      }
      if (random.nextInt(3) == 0) {
        add(exceptions, 1 + random.nextInt(4));
        exceptions.removeAll(exempt);
        exceptions.remove(Cidr.of("10.0.0.0/8"));
        text.append(list("masqueradeCIDRs", exceptions));
      }
      text.append("masqLinkLocal: ").append(random.nextBoolean()).append('\n');
      text.append("masqLinkLocalIPv6: ").append(random.nextBoolean()).append('\n');
      List<PortRange> ports = random.nextInt(3) == 0 ? ports() : List.of();
      if (!ports.isEmpty()) {
        text.append("toPorts: \"").append(joined(ports)).append("\"\n");
      }
      text.append(
          one("", "", "", SOURCES_WITH_POD, SOURCES_WITHOUT, "sourceCIDRs: [10.244.1.2/32]\n"));
      text.append(
          one(
              "",
              "",
              "",
              "outputInterface: eth+\n",
              "outputInterface: [eth0, wlan0]\n",
              "outputInterface: wlan0\n"));
      List<IpRange> addresses = random.nextInt(5) == 0 ? ADDRESSES : List.of();
      if (!addresses.isEmpty()) {
        text.append("outputAddress: [192.0.2.50-192.0.2.53, \"2001:db8:2::50\"]\n");
      }
      text.append("randomFully: ").append(random.nextInt(4) > 0).append('\n');
      return new GeneratedConfig(text.toString(), ports, addresses, destinations());
    }

    private String one(String... choices) {
      return choices[random.nextInt(choices.length)];
    }

    private static String list(String key, Set<Cidr> cidrs) {
      return cidrs.stream()
          .map(cidr -> "\"" + cidr + "\"")
          .collect(Collectors.joining(", ", key + ": [", "]\n"));
    }

    private static String joined(List<PortRange> ports) {
      return ports.stream().map(Object::toString).collect(Collectors.joining(","));
    }

    private void add(Set<Cidr> cidrs, int count) {
      for (int i = 0; i < count; i++) {
        Family family = random.nextInt(3) == 0 ? Family.IPV6 : Family.IPV4;
        List<Cidr> all = new ArrayList<>(exempt);
        all.addAll(exceptions);
        all.removeIf(cidr -> cidr.family() != family);
        // Half of them have to do with one that is there: inside, around, or the same again.
        boolean related = !all.isEmpty() && random.nextBoolean();
        Ip base = related ? inside(all.get(random.nextInt(all.size()))) : anywhere(family);
        cidrs.add(around(base, length(family)));
      }
    }

    private int length(Family family) {
      return switch (random.nextInt(12)) {
        case 0 -> family.bits();
        case 1 -> 0;
        case 2 -> family.bits() - 1;
        default -> 1 + random.nextInt(family.bits() - 1);
      };
    }

    private List<PortRange> ports() {
      List<PortRange> ports = new ArrayList<>();
      int from = 1024;
      for (int i = 1 + random.nextInt(3); i > 0; i--) {
        int first = from + random.nextInt(5000);
        // Wide enough that no probe of the run finds all ports of a range in use.
        int last = first + 2000 + random.nextInt(8000);
        ports.add(new PortRange(first, last));
        from = last + 1;
      }
      return ports;
    }

    /** The edges of every range and what lies just beyond, and some that are anywhere. */
    private List<Destination> destinations() {
      Set<Ip> addresses = new LinkedHashSet<>();
      List<Cidr> all = new ArrayList<>(exempt);
      all.addAll(exceptions);
      for (Cidr cidr : all) {
        addresses.add(cidr.first());
        addresses.add(cidr.last());
        cidr.first().previous().ifPresent(addresses::add);
        cidr.last().next().ifPresent(addresses::add);
        addresses.add(inside(cidr));
      }
      for (int i = 0; i < PROBES_FREE; i++) {
        addresses.add(anywhere(i % 3 == 0 ? Family.IPV6 : Family.IPV4));
      }
      for (String fixed : List.of("169.254.169.254", "10.1.2.3", "8.8.8.8", "2001:4860::8888")) {
        addresses.add(Ip.of(fixed));
      }
      List<Destination> destinations = new ArrayList<>();
      for (Ip address : addresses) {
        if (!address.toString().startsWith("fe80:")) {
          destinations.add(new Destination(address.toString(), random.nextInt(3) == 0));
        }
      }
      destinations.add(new Destination("fe80::1", false));
      return destinations;
    }

    private Ip anywhere(Family family) {
      byte[] bytes = new byte[family.bits() / 8];
      random.nextBytes(bytes);
      if (family == Family.IPV6) {
        // Where addresses are: 2000::/3, and the private fc00::/7.
        bytes[0] = (byte) (random.nextBoolean() ? 0x20 | bytes[0] & 0x1f : 0xfc | bytes[0] & 1);
      } else if (random.nextBoolean()) {
        bytes[0] = 10;
      }
      return Ip.ofBytes(bytes);
    }

    private Ip inside(Cidr cidr) {
      byte[] bytes = cidr.first().bytes();
      byte[] noise = new byte[bytes.length];
      random.nextBytes(noise);
      for (int bit = cidr.prefix(); bit < bytes.length * 8; bit++) {
        bytes[bit / 8] ^= (byte) (noise[bit / 8] & 0x80 >> bit % 8);
      }
      return Ip.ofBytes(bytes);
    }

    private static Cidr around(Ip address, int length) {
      byte[] bytes = address.bytes();
      for (int bit = length; bit < bytes.length * 8; bit++) {
        bytes[bit / 8] &= (byte) ~(0x80 >> bit % 8);
      }
      return Cidr.of(Ip.ofBytes(bytes) + "/" + length);
    }
  }
}
