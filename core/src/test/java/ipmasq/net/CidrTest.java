package ipmasq.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CidrTest {
  @ParameterizedTest
  @CsvSource({
    "10.0.0.0/8, 10.0.0.0/8, 10.255.255.255",
    "0.0.0.0/0, 0.0.0.0/0, 255.255.255.255",
    "8.8.8.8/32, 8.8.8.8/32, 8.8.8.8",
    "10.0.0.0/08, 10.0.0.0/8, 10.255.255.255",
    "10.0.0.0/010, 10.0.0.0/10, 10.63.255.255",
    "10.0.0.0/00000000000000000008, 10.0.0.0/8, 10.255.255.255",
    "::/0, ::/0, ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "::/80, ::/80, ::ffff:ffff:ffff",
    "fd00::/8, fd00::/8, fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:DB8::/64, 2001:db8::/64, 2001:db8::ffff:ffff:ffff:ffff",
    "2001:db8:0:0:8000::/65, 2001:db8:0:0:8000::/65, 2001:db8::ffff:ffff:ffff:ffff",
    "::1/128, ::1/128, ::1",
    "::10.0.0.0/104, ::a00:0/104, ::aff:ffff",
  })
  void blocks(String text, String canonical, String last) {
    Cidr cidr = assertInstanceOf(Cidr.Parsed.Block.class, Cidr.parse(text)).cidr();
    assertEquals(canonical, cidr.toString());
    assertEquals(Ip.of(last), cidr.last());
    assertEquals(cidr.network(), cidr.first());
    assertTrue(cidr.contains(cidr.first()) && cidr.contains(cidr.last()));
    cidr.last().next().ifPresent(ip -> assertFalse(cidr.contains(ip)));
    cidr.first().previous().ifPresent(ip -> assertFalse(cidr.contains(ip)));
  }

  @ParameterizedTest
  @CsvSource({
    "10.0.0.1/8, 10.0.0.1, 10.0.0.0/8",
    "10.0.0.1/0, 10.0.0.1, 0.0.0.0/0",
    "10.0.0.1/31, 10.0.0.1, 10.0.0.0/31",
    "fd00::1/64, fd00::1, fd00::/64",
    "::1/127, ::1, ::/127",
    "::ffff:0:0/90, ::ffff:0:0, ::ffc0:0:0/90",
  })
  void misaligned(String text, String ip, String network) {
    assertEquals(new Cidr.Parsed.Misaligned(Ip.of(ip), Cidr.of(network)), Cidr.parse(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"::ffff:10.0.0.0/104", "::ffff:0.0.0.0/96", "::ffff:a00:1/128", "::ffff:1:1/100"})
  void mapped(String text) {
    assertEquals(new Cidr.Parsed.V4Mapped(), Cidr.parse(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/",
        "/8",
        "10.0.0.0",
        "10.0.0.0/",
        "10/8",
        "10.0.0.0/33",
        "10.0.0.0/-1",
        "10.0.0.0/+8",
        "10.0.0.0/8 ",
        " 10.0.0.0/8",
        "10.0.0.0/8/8",
        "10.0.0.0/255.0.0.0",
        "10.0.0.0/8.0",
        "010.0.0.0/8",
        "fd00::/129",
        "fe80::%eth0/64",
        "10.0.0.0/0x8",
        "10.0.0.0/\u0668",
        "10.0.0.0/4294967304",
        "10.0.0.0/99999999999999999999",
        "10.0.0.0-10.0.0.9",
        "!10.0.0.0/8"
      })
  void refusals(String text) {
    assertEquals(new Cidr.Parsed.Malformed(), Cidr.parse(text));
    assertThrows(IllegalArgumentException.class, () -> Cidr.of(text));
  }

  @Test
  void oneThatExistsIsValid() {
    assertThrows(IllegalArgumentException.class, () -> new Cidr(Ip.of("10.0.0.1"), 8));
    assertThrows(IllegalArgumentException.class, () -> new Cidr(Ip.of("10.0.0.0"), 33));
    assertThrows(IllegalArgumentException.class, () -> new Cidr(Ip.of("10.0.0.0"), -1));
  }

  @Test
  void containment() {
    Cidr ten = Cidr.of("10.0.0.0/8");
    assertTrue(ten.contains(ten));
    assertTrue(ten.contains(Cidr.of("10.1.0.0/16")));
    assertFalse(Cidr.of("10.1.0.0/16").contains(ten));
    assertFalse(ten.contains(Cidr.of("11.0.0.0/16")));
    assertFalse(Cidr.of("0.0.0.0/0").contains(Ip.of("::1")));
    assertFalse(Cidr.of("::/0").contains(Ip.of("10.0.0.1")));
    assertFalse(Cidr.of("::/0").contains(ten));
  }

  @Test
  void aBlockComesRightBeforeThoseItContains() {
    List<Cidr> sorted =
        List.of(
            Cidr.of("0.0.0.0/0"),
            Cidr.of("10.0.0.0/8"),
            Cidr.of("10.0.0.0/16"),
            Cidr.of("10.1.0.0/16"),
            Cidr.of("200.0.0.0/8"),
            Cidr.of("::/0"),
            Cidr.of("fe80::/10"));
    assertEquals(sorted, sorted.reversed().stream().sorted().toList());
  }
}
