package ipmasq.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CidrsTest {
  private static final List<Cidr> MIXED =
      blocks("10.0.0.0/8", "fd00::/8", "0.0.0.0/0", "::/0", "255.255.255.255/32", "fe80::1/128");

  private static List<Cidr> blocks(String... texts) {
    return Stream.of(texts).map(Cidr::of).toList();
  }

  private static Cidrs packed(String... texts) {
    return Cidrs.copyOf(blocks(texts));
  }

  @Test
  void holdsWhatItWasGivenInThatOrder() {
    Cidrs packed = Cidrs.copyOf(MIXED);
    assertEquals(MIXED, packed);
    assertEquals(packed, MIXED);
    assertEquals(MIXED.hashCode(), packed.hashCode());
    assertEquals(MIXED.reversed(), packed.reversed());
    assertSame(packed, Cidrs.copyOf(packed));
    assertThrows(IndexOutOfBoundsException.class, () -> packed.get(MIXED.size()));
    assertThrows(UnsupportedOperationException.class, () -> packed.add(MIXED.getFirst()));
  }

  @Test
  void equalsAsListsDo() {
    assertEquals(packed("10.0.0.0/8"), packed("10.0.0.0/8"));
    assertNotEquals(packed("10.0.0.0/8"), packed("10.0.0.0/9"));
    assertNotEquals(packed("0.0.0.0/0"), packed("::/0"));
    assertNotEquals(packed("10.0.0.0/8"), packed("10.0.0.0/8", "10.0.0.0/8"));
  }

  @Test
  void picksAFamily() {
    Cidrs packed = Cidrs.copyOf(MIXED);
    assertEquals(blocks("10.0.0.0/8", "0.0.0.0/0", "255.255.255.255/32"), packed.of(Family.IPV4));
    assertEquals(blocks("fd00::/8", "::/0", "fe80::1/128"), packed.of(Family.IPV6));
    assertEquals(
        MIXED,
        packed.of(Family.IPV4).followedBy(packed.of(Family.IPV6)).stream()
            .sorted((a, b) -> MIXED.indexOf(a) - MIXED.indexOf(b))
            .toList());
  }

  /** Against the plain way to say the same, on blocks that often are nested or repeated. */
  @ParameterizedTest
  @EnumSource(Family.class)
  void leavesOutWhatIsRepeatedOrLiesInOthers(Family family) {
    Random random = new Random(family.bits());
    for (int round = 0; round < 2_000; round++) {
      List<Cidr> blocks = new ArrayList<>();
      for (int i = random.nextInt(12); i > 0; i--) {
        blocks.add(block(family, random));
      }
      if (round % 3 == 0) {
        blocks.sort(null);
      }
      Cidrs packed = Cidrs.copyOf(blocks);
      assertEquals(new ArrayList<>(new LinkedHashSet<>(blocks)), packed.distinct());
      List<Cidr> outermost =
          blocks.stream()
              .distinct()
              .filter(b -> blocks.stream().noneMatch(o -> !o.equals(b) && o.contains(b)))
              .sorted()
              .toList();
      assertEquals(outermost, packed.outermost());
      assertEquals(blocks, packed); // as it was
    }
  }

  private static Cidr block(Family family, Random random) {
    byte[] bytes = new byte[family.bytes()];
    bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
    bytes[0] = (byte) (random.nextBoolean() ? 10 : 200);
    int prefix = random.nextInt(family.bits() + 1);
    return new Cidr(Ip.ofBytes(bytes).masked(prefix), prefix);
  }

  @Test
  void theBlockThatHoldsAnAddress() {
    Cidrs blocks = packed("10.0.0.0/24", "10.0.2.0/24", "192.168.0.0/16");
    assertEquals(Optional.of(Cidr.of("10.0.2.0/24")), blocks.holding(Ip.of("10.0.2.255")));
    assertEquals(Optional.of(Cidr.of("10.0.0.0/24")), blocks.holding(Ip.of("10.0.0.0")));
    assertEquals(Optional.empty(), blocks.holding(Ip.of("10.0.1.1")));
    assertEquals(Optional.empty(), blocks.holding(Ip.of("192.169.0.0")));
    assertEquals(Optional.empty(), Cidrs.NONE.holding(Ip.of("10.0.0.1")));
  }
}
