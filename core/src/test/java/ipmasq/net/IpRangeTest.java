package ipmasq.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IpRangeTest {
  private static IpRange range(String text) {
    return IpRange.parse(text).orElseThrow();
  }

  @ParameterizedTest
  @CsvSource({
    "10.0.0.1, 10.0.0.1",
    "10.0.0.1-10.0.0.1, 10.0.0.1",
    "10.0.0.1-10.0.0.9, 10.0.0.1-10.0.0.9",
    "FD00::1-fd00::0f, fd00::1-fd00::f",
  })
  void ranges(String text, String canonical) {
    assertEquals(canonical, range(text).toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-",
        "10.0.0.1-",
        "-10.0.0.1",
        "10.0.0.9-10.0.0.1",
        "10.0.0.1-fd00::1",
        "10.0.0.1 - 10.0.0.9",
        "10.0.0.1-10.0.0.2-10.0.0.3",
        "10.0.0.0/8",
        "10.0.0.1-9"
      })
  void refusals(String text) {
    assertEquals(Optional.empty(), IpRange.parse(text));
  }

  @Test
  void oneThatExistsIsValid() {
    assertThrows(
        IllegalArgumentException.class, () -> new IpRange(Ip.of("10.0.0.2"), Ip.of("10.0.0.1")));
    assertThrows(
        IllegalArgumentException.class, () -> new IpRange(Ip.of("10.0.0.2"), Ip.of("::ffff")));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "10.0.0.0-10.255.255.255 | 10.0.0.0/8",
        "0.0.0.0-255.255.255.255 | 0.0.0.0/0",
        "10.0.0.1-10.0.0.6 | 10.0.0.1/32 10.0.0.2/31 10.0.0.4/31 10.0.0.6/32",
        "255.255.255.254-255.255.255.255 | 255.255.255.254/31",
        "::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | ::/0",
        "::ffff:ffff:ffff:ffff-0:0:0:1:: | ::ffff:ffff:ffff:ffff/128 0:0:0:1::/128",
      })
  void fewestBlocks(String text, String blocks) {
    assertEquals(
        List.of(blocks.split(" ")), range(text).blocks().stream().map(Cidr::toString).toList());
  }

  @Test
  void blocksCoverTheRangeWithoutGapOrOverlap() {
    Random random = new Random(3);
    for (int i = 0; i < 500; i++) {
      long a = random.nextLong() & 0xffff_ffffL;
      long b = random.nextLong() & 0xffff_ffffL;
      IpRange range =
          new IpRange(
              new Ip(Family.IPV4, 0, Math.min(a, b)), new Ip(Family.IPV4, 0, Math.max(a, b)));
      Ip at = range.first();
      for (Cidr block : range.blocks()) {
        assertEquals(at, block.first());
        at = block.last().next().orElse(Ip.of("0.0.0.0"));
      }
      assertEquals(range.last().next().orElse(Ip.of("0.0.0.0")), at);
    }
  }

  @Test
  void containment() {
    IpRange range = range("10.0.0.1-10.0.0.9");
    assertTrue(range.contains(Ip.of("10.0.0.1")) && range.contains(Ip.of("10.0.0.9")));
    assertFalse(range.contains(Ip.of("10.0.0.0")) || range.contains(Ip.of("10.0.0.10")));
    assertFalse(range.contains(Ip.of("::a00:5")));
    assertEquals(range("10.0.0.0-10.255.255.255"), IpRange.of(Cidr.of("10.0.0.0/8")));
  }
}
