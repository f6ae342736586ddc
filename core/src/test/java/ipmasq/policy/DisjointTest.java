package ipmasq.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DisjointTest {
  @Test
  void nestedRangesGoIntoTheWiderOne() {
    assertEquals(
        List.of(Cidr.of("10.0.0.0/8"), Cidr.of("11.0.0.0/8")),
        exempt("11.0.0.0/8", "10.1.0.0/16", "10.0.0.0/8", "10.0.0.0/8"));
  }

  @Test
  void anExceptionIsCutOut() {
    assertEquals(
        List.of(Cidr.of("10.0.0.0/16"), Cidr.of("10.1.2.0/24"), Cidr.of("10.2.0.0/15")),
        exempt("10.0.0.0/14", "!10.1.0.0/16", "10.1.2.0/24"));
  }

  @Test
  void anExceptionAtTheBorderLeavesNothingBeside() {
    assertEquals(List.of(Cidr.of("10.128.0.0/9")), exempt("10.0.0.0/8", "!10.0.0.0/9"));
    assertEquals(List.of(), exempt("10.0.0.0/9", "!10.0.0.0/10", "!10.64.0.0/10"));
    assertEquals(List.of(Cidr.of("128.0.0.0/1")), exempt("0.0.0.0/0", "!0.0.0.0/1"));
  }

  @Test
  void ofTheSameRangeTwiceTheFirstDecides() {
    assertEquals(List.of(Cidr.of("10.0.0.0/8")), exempt("10.0.0.0/8", "!10.0.0.0/8"));
    assertEquals(List.of(), exempt("!10.0.0.0/8", "10.0.0.0/8"));
  }

  @Test
  void theWholeSpaceIsOneBlock() {
    assertEquals(List.of(Cidr.of("0.0.0.0/0")), exempt("0.0.0.0/0", "10.0.0.0/8"));
    assertEquals(List.of(Cidr.of("::/0")), exempt("::/0", "fe80::/10"));
  }

  @Test
  void itAgreesWithTheLongestPrefixOnGeneratedRanges() {
    Random random = new Random(7);
    for (int round = 0; round < 300; round++) {
      Policy policy = generated(random);
      List<Cidr> exempt = policy.exempt();
      for (int i = 1; i < exempt.size(); i++) {
        assertEquals(true, exempt.get(i - 1).last().compareTo(exempt.get(i).first()) < 0);
      }
      for (int i = 0; i < 256; i++) {
        Ip ip = Ip.ofBytes(new byte[] {10, 0, 0, (byte) i});
        boolean kept = exempt.stream().anyMatch(cidr -> cidr.contains(ip));
        assertEquals(policy.verdictFor(Packet.to(ip)).translated(), !kept, policy + " " + ip);
        assertEquals(!kept, policy.disjoint().verdictFor(Packet.to(ip)).translated());
      }
    }
  }

  /** Ranges within one /24, so that they nest often. */
  private static Policy generated(Random random) {
    List<Destination> destinations = new ArrayList<>();
    for (int i = random.nextInt(8); i >= 0; i--) {
      int prefix = 24 + random.nextInt(9);
      int low = random.nextInt(256) >> 32 - prefix << 32 - prefix;
      Cidr cidr = new Cidr(Ip.ofBytes(new byte[] {10, 0, 0, (byte) low}), prefix);
      if (destinations.stream().noneMatch(d -> d.range().equals(cidr))) {
        destinations.add(
            new Destination(cidr, random.nextBoolean() ? Treatment.EXEMPT : Treatment.TRANSLATE));
      }
    }
    destinations.sort(Comparator.comparing(d -> -d.range().prefix()));
    return new Policy(
        Family.IPV4,
        List.of(),
        List.of(),
        destinations,
        new Translation(Optional.empty(), List.of(), true));
  }

  /** A leading {@code !} marks an exception. */
  private static List<Cidr> exempt(String... ranges) {
    List<Destination> destinations = new ArrayList<>();
    for (String range : ranges) {
      boolean exception = range.startsWith("!");
      destinations.add(
          new Destination(
              Cidr.of(exception ? range.substring(1) : range),
              exception ? Treatment.TRANSLATE : Treatment.EXEMPT));
    }
    return new Policy(
            destinations.getFirst().range().family(),
            List.of(),
            List.of(),
            destinations,
            new Translation(Optional.empty(), List.of(), true))
        .exempt();
  }
}
