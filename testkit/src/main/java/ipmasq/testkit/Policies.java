package ipmasq.testkit;

import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import ipmasq.policy.Translation;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/** Policies for tests, by hand and by chance. */
public final class Policies {
  public static final Translation MASQUERADE = new Translation(Optional.empty(), List.of(), true);

  private Policies() {}

  public static Policy exempting(String... ranges) {
    Family family = ranges.length == 0 ? Family.IPV4 : Cidr.of(ranges[0].replace("!", "")).family();
    return of(family, MASQUERADE, ranges);
  }

  public static Policy of(Family family, Translation translation, String... ranges) {
    List<Destination> destinations = new ArrayList<>();
    for (String range : ranges) {
      destinations.add(
          range.startsWith("!")
              ? new Destination(Cidr.of(range.substring(1)), Treatment.TRANSLATE)
              : new Destination(Cidr.of(range), Treatment.EXEMPT));
    }
    return new Policy(family, List.of(), List.of(), destinations, translation);
  }

  public static Policy scoped(Policy policy, List<String> sources, List<String> interfaces) {
    return new Policy(
        policy.family(),
        sources.stream().map(Cidr::of).toList(),
        interfaces,
        policy.destinations(),
        policy.translation());
  }

  public static Policy pinned(Policy policy) {
    return new Policy(
        policy.family(),
        policy.sources(),
        policy.interfaces(),
        policy.destinations(),
        policy.translation(),
        true);
  }

  public static Translation ports(PortRange... ranges) {
    return new Translation(Optional.empty(), List.of(ranges), true);
  }

  public static Translation snat(String first, String last, PortRange... ranges) {
    return new Translation(
        Optional.of(new IpRange(Ip.of(first), Ip.of(last))), List.of(ranges), true);
  }

  public static Policy random(Random random) {
    Family family = random.nextBoolean() ? Family.IPV4 : Family.IPV6;
    Set<Destination> destinations = new LinkedHashSet<>();
    boolean exceptions = random.nextInt(3) == 0;
    for (int i = random.nextInt(12); i > 0; i--) {
      boolean translate = exceptions && random.nextBoolean();
      destinations.add(
          new Destination(
              block(family, random), translate ? Treatment.TRANSLATE : Treatment.EXEMPT));
    }
    Set<Cidr> sources = new LinkedHashSet<>();
    for (int i = random.nextInt(4) - 1; i > 0; i--) {
      Cidr source = block(family, random);
      if (source.prefix() > 0) {
        sources.add(source);
      }
    }
    Set<String> interfaces = new LinkedHashSet<>();
    for (int i = random.nextInt(4) - 1; i > 0; i--) {
      interfaces.add(List.of("eth0", "eth+", "bond0.100", "wlp3s0").get(random.nextInt(4)));
    }
    List<PortRange> ports = new ArrayList<>();
    for (int i = random.nextInt(5) - 1; i > 0; i--) {
      int first = 1 + random.nextInt(65535);
      ports.add(new PortRange(first, first + random.nextInt(65536 - first)));
    }
    Ip one = block(family, random).first();
    Ip two = block(family, random).first();
    IpRange range = one.compareTo(two) <= 0 ? new IpRange(one, two) : new IpRange(two, one);
    return new Policy(
        family,
        List.copyOf(sources),
        List.copyOf(interfaces),
        List.copyOf(destinations),
        new Translation(
            random.nextInt(3) == 0 ? Optional.of(range) : Optional.empty(),
            ports,
            random.nextBoolean()));
  }

  private static Cidr block(Family family, Random random) {
    byte[] bytes = new byte[family.bytes()];
    random.nextBytes(bytes);
    int prefix = random.nextInt(family.bits() + 1);
    for (int bit = prefix; bit < family.bits(); bit++) {
      bytes[bit / 8] &= (byte) ~(0x80 >> bit % 8);
    }
    return new Cidr(Ip.ofBytes(bytes), prefix);
  }
}
