package ipmasq;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.backend.Backend;
import ipmasq.backend.Observation;
import ipmasq.backend.Outcome;
import ipmasq.backend.iptables.IptablesBackend;
import ipmasq.backend.nftables.NftablesBackend;
import ipmasq.config.Config;
import ipmasq.config.Key;
import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import ipmasq.plan.Observed;
import ipmasq.plan.Plan;
import ipmasq.policy.Packet;
import ipmasq.policy.Policy;
import ipmasq.testkit.Addresses;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Namespace;
import ipmasq.testkit.Probe;
import ipmasq.testkit.Sighting;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every key with every other: the outside host sees what {@code explain} says. */
@KernelTest
class CombinationsTest {
  private static final int COMBINATIONS = 150;
  private static final Addresses SECOND_POD = Addresses.of("10.244.7.2", "fd00:244:7::2");
  private static final Addresses SECOND_UPLINK = Addresses.of("192.0.3.10", "2001:db8:3::10");

  /** What one family's configs are made of, and where packets go to try them. */
  private record Material(
      List<String> exempt,
      List<String> exceptions,
      List<String> sources,
      List<String> addresses,
      List<String> destinations) {}

  private static final Material V4 =
      new Material(
          List.of(
              "10.0.0.0/8",
              "10.1.2.0/24",
              "10.2.0.1/32",
              "192.168.0.0/16",
              "198.51.100.0/24",
              "203.0.113.128/25",
              "8.8.8.8/32",
              "8.8.8.9/32",
              "0.0.0.0/1",
              "0.0.0.0/0"),
          List.of(
              "10.1.0.0/16", "10.1.2.3/32", "203.0.113.192/26", "198.51.100.0/25", "128.0.0.0/1"),
          List.of("10.244.1.0/24", "10.244.7.2/32", "10.244.0.0/16", "172.31.0.0/16"),
          List.of("192.0.2.77", "192.0.2.77-192.0.2.79"),
          List.of(
              "10.1.2.3",
              "10.1.2.4",
              "10.1.3.1",
              "10.2.0.1",
              "192.168.9.9",
              "198.51.100.7",
              "198.51.100.200",
              "203.0.113.5",
              "203.0.113.200",
              "8.8.8.8",
              "8.8.8.9",
              "169.254.7.7"));

  private static final Material V6 =
      new Material(
          List.of(
              "fd00::/8",
              "fd00:1:2::/48",
              "fd00:2::1/128",
              "2001:db8:51::/48",
              "2001:db8:8000::/33",
              "::/0"),
          List.of("fd00:1::/32", "fd00:1:2::3/128", "2001:db8:51:1::/64", "2000::/3"),
          List.of("fd00:244:1::/64", "fd00:244:7::2/128", "fd00:244::/32", "fd99::/16"),
          List.of("2001:db8:2::77", "2001:db8:2::77-2001:db8:2::79"),
          List.of(
              "fd00:1:2::3",
              "fd00:1:2::4",
              "fd00:1:3::1",
              "fd00:2::1",
              "2001:db8:51::7",
              "2001:db8:51:1::7",
              "2001:db8:ffff::5",
              "2001:db9::1"));

  private Lab lab;
  private Namespace second;

  @BeforeEach
  void open() {
    lab = Lab.open();
    second = lab.addPod("10.244.7.2", "fd00:244:7::2");
    String uplink = lab.addUplink("192.0.3.10", "2001:db8:3::10");
    lab.routeBy(uplink, "198.51.100.0/24", "2001:db8:51::/48");
    // Not on the uplink: there masquerading might choose them, too.
    for (int last = 77; last <= 79; last++) {
      lab.node()
          .ip(
              "addr add 192.0.2." + last + "/32 dev lo",
              "addr add 2001:db8:2::" + last + "/128 dev lo nodad");
    }
  }

  @AfterEach
  void close() {
    lab.close();
  }

  @Test
  void iptables() {
    judge(IptablesBackend.ofNode("IP-MASQ-AGENT"), new Random(21));
  }

  @Test
  void nftables() {
    try (NftablesBackend table = NftablesBackend.owning()) {
      judge(table, new Random(22));
    }
  }

  private void judge(Backend backend, Random random) {
    int translated = 0;
    int kept = 0;
    for (int i = 0; i < COMBINATIONS; i++) {
      Family family = i % 3 == 2 ? Family.IPV6 : Family.IPV4;
      Material material = family == Family.IPV4 ? V4 : V6;
      Policy policy = config(random, material, backend).policy(family);
      sync(backend, policy);
      List<Probe> probes = new ArrayList<>();
      for (Namespace from : List.of(lab.pod(), second)) {
        material.destinations().forEach(to -> probes.add(Probe.udp(to).from(from)));
      }
      List<Sighting> sightings = lab.sendAll(probes);
      for (int j = 0; j < probes.size(); j++) {
        boolean second = j >= material.destinations().size();
        String to = material.destinations().get(j % material.destinations().size());
        boolean changed = judge(policy, second ? SECOND_POD : Lab.POD, to, sightings.get(j));
        translated += changed ? 1 : 0;
        kept += changed ? 0 : 1;
      }
    }
    assertTrue(translated > 500 && kept > 500, translated + " translated, " + kept + " kept");
  }

  private static boolean judge(Policy policy, Addresses pod, String to, Sighting sighting) {
    InetAddress destination = InetAddress.ofLiteral(to);
    boolean byEth1 = to.startsWith("198.51.100.") || to.startsWith("2001:db8:51:");
    Packet packet =
        new Packet(ip(pod.like(destination)), Ip.of(to), false, byEth1 ? "eth1" : "eth0");
    String context = policy + "\n" + packet + "\n" + sighting;
    Ip seen = ip(sighting.source());
    if (!policy.verdictFor(packet).translated()) {
      assertEquals(packet.source(), seen, context);
      return false;
    }
    Addresses uplink = byEth1 ? SECOND_UPLINK : Lab.NODE;
    if (policy.translation().addresses().isPresent()) {
      assertTrue(policy.translation().addresses().get().contains(seen), context);
    } else {
      assertEquals(ip(uplink.like(destination)), seen, context);
    }
    List<PortRange> ports = policy.translation().ports();
    int port = sighting.seen().port();
    assertTrue(
        ports.isEmpty() || ports.stream().anyMatch(r -> r.first() <= port && port <= r.last()),
        context);
    return true;
  }

  private static Ip ip(InetAddress address) {
    return Ip.ofBytes(address.getAddress());
  }

  private void sync(Backend backend, Policy policy) {
    Outcome outcome = lab.node().call(() -> backend.apply(plan(backend, policy)));
    assertEquals(new Outcome.Applied(), outcome);
    assertEquals(List.of(), lab.node().call(() -> plan(backend, policy)).changes());
  }

  private static Plan plan(Backend backend, Policy policy) {
    Observed seen = seen(backend, policy);
    return Plan.toward(backend.normalize(policy, seen), seen);
  }

  private static Observed seen(Backend backend, Policy policy) {
    return assertInstanceOf(Observation.Seen.class, backend.observe(policy.family())).observed();
  }

  private static Config config(Random random, Material material, Backend backend) {
    List<Cidr> exempt = some(random, material.exempt(), 5);
    List<Cidr> exceptions = some(random, material.exceptions(), 3);
    exceptions.removeAll(exempt);
    boolean ports = random.nextInt(3) == 0;
    return Config.defaults()
        .with(Key.ENABLE_IPV6, true)
        .with(Key.NON_MASQUERADE_CIDRS, Cidrs.copyOf(exempt))
        .with(Key.MASQUERADE_CIDRS, Cidrs.copyOf(exceptions))
        .with(
            Key.SOURCE_CIDRS,
            Cidrs.copyOf(random.nextBoolean() ? List.of() : some(random, material.sources(), 2)))
        .with(Key.OUTPUT_INTERFACE, pick(random, List.of("eth0", "eth1", "eth+", "wlan+")))
        .with(
            Key.OUTPUT_ADDRESS,
            pick(random, material.addresses()).stream()
                .map(text -> IpRange.parse(text).orElseThrow())
                .limit(1)
                .toList())
        .with(Key.MASQ_LINK_LOCAL, random.nextBoolean())
        .with(Key.RANDOM_FULLY, random.nextBoolean())
        .with(
            Key.TO_PORTS,
            ports
                ? List.of(new PortRange(61_000, 61_999), new PortRange(63_000, 63_500))
                : List.of())
        .with(Key.PIN, backend instanceof NftablesBackend && random.nextInt(3) == 0);
  }

  private static List<Cidr> some(Random random, List<String> from, int most) {
    List<Cidr> some = new ArrayList<>();
    for (int i = random.nextInt(most + 1); i > 0; i--) {
      Cidr cidr = Cidr.of(from.get(random.nextInt(from.size())));
      if (!some.contains(cidr)) {
        some.add(cidr);
      }
    }
    return some;
  }

  private static List<String> pick(Random random, List<String> from) {
    List<String> some = new ArrayList<>();
    for (int i = random.nextInt(4) - 1; i > 0; i--) {
      String each = from.get(random.nextInt(from.size()));
      if (!some.contains(each)) {
        some.add(each);
      }
    }
    return some;
  }
}
