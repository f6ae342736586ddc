package ipmasq.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IpTest {
  @ParameterizedTest
  @CsvSource({
    "0.0.0.0, 0.0.0.0",
    "255.255.255.255, 255.255.255.255",
    "10.0.0.1, 10.0.0.1",
    "::, ::",
    "::1, ::1",
    "1::, 1::",
    "1:2:3:4:5:6:7:8, 1:2:3:4:5:6:7:8",
    "1:2:3:4:5:6:7::, 1:2:3:4:5:6:7:0",
    "::2:3:4:5:6:7:8, 0:2:3:4:5:6:7:8",
    "0:0:0:0:0:0:0:0, ::",
    "1:0:0:2:0:0:0:3, 1:0:0:2::3",
    "1:0:0:2:3:0:0:4, 1::2:3:0:0:4",
    "1:0:2:3:4:5:6:7, 1:0:2:3:4:5:6:7",
    "FE80::ABCD, fe80::abcd",
    "0001:0002::, 1:2::",
    "::ffff:10.0.0.1, ::ffff:a00:1",
    "::10.0.0.1, ::a00:1",
    "1:2:3:4:5:6:1.2.3.4, 1:2:3:4:5:6:102:304",
    "64:ff9b::192.0.2.1, 64:ff9b::c000:201",
  })
  void addresses(String text, String canonical) {
    assertEquals(canonical, Ip.of(text).toString());
    assertEquals(Ip.of(text), Ip.of(canonical));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "10",
        "10.1",
        "10.0.0",
        "10.0.0.0.0",
        "10.0.0.",
        ".10.0.0",
        "10..0.0",
        "010.0.0.1",
        "10.0.0.00",
        "256.0.0.0",
        "1000.0.0.0",
        "0x0a.0.0.0",
        "10.0.0.1 ",
        " 10.0.0.1",
        "-1.0.0.0",
        "+1.0.0.0",
        "\uff11.0.0.0",
        "\u0661.0.0.0",
        ":",
        ":::",
        "::1::",
        "1::2::3",
        ":1::2",
        "1:",
        "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9",
        "1:2:3:4:5:6:7:8::",
        "1::2:3:4:5:6:7:8",
        "12345::",
        "g::",
        "::1%eth0",
        "[::1]",
        "::1.2.3",
        "::1.2.3.4.5",
        "::1.2.3.4:5",
        "1.2.3.4::",
        "::01.2.3.4",
        "::256.0.0.1",
        "1:2:3:4:5:6:7:1.2.3.4",
        "::\uff11",
        "::1/128"
      })
  void refusals(String text) {
    assertEquals(Optional.empty(), Ip.parse(text));
  }

  @Test
  void bytesAndBack() throws UnknownHostException {
    Random random = new Random(7);
    for (int i = 0; i < 2_000; i++) {
      byte[] bytes = new byte[i % 2 == 0 ? 4 : 16];
      random.nextBytes(bytes);
      for (int z = random.nextInt(bytes.length); z > 0; z--) {
        bytes[random.nextInt(bytes.length)] = 0;
      }
      Ip ip = Ip.ofBytes(bytes);
      assertArrayEquals(bytes, ip.bytes());
      assertEquals(ip, Ip.of(ip.toString()));
      assertArrayEquals(bytes, InetAddress.ofLiteral(ip.toString()).getAddress());
    }
    assertThrows(IllegalArgumentException.class, () -> Ip.ofBytes(new byte[5]));
  }

  @Test
  void neighbours() {
    assertEquals(Optional.of(Ip.of("10.0.1.0")), Ip.of("10.0.0.255").next());
    assertEquals(Optional.of(Ip.of("10.0.0.255")), Ip.of("10.0.1.0").previous());
    assertEquals(Optional.empty(), Ip.of("255.255.255.255").next());
    assertEquals(Optional.empty(), Ip.of("0.0.0.0").previous());
    assertEquals(Optional.of(Ip.of("0:0:0:1::")), Ip.of("::ffff:ffff:ffff:ffff").next());
    assertEquals(Optional.of(Ip.of("::ffff:ffff:ffff:ffff")), Ip.of("0:0:0:1::").previous());
    assertEquals(Optional.empty(), Ip.of("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff").next());
    assertEquals(Optional.empty(), Ip.of("::").previous());
  }

  @Test
  void orderIsUnsigned() {
    List<Ip> ips =
        List.of(
            Ip.of("0.0.0.1"),
            Ip.of("127.0.0.1"),
            Ip.of("255.0.0.0"),
            Ip.of("::"),
            Ip.of("::8000:0:0:0"),
            Ip.of("1::"),
            Ip.of("fe80::"));
    assertEquals(ips, ips.reversed().stream().sorted().toList());
  }

  @Test
  void anIpv4AddressHas32Bits() {
    assertThrows(IllegalArgumentException.class, () -> new Ip(Family.IPV4, 1, 0));
    assertThrows(IllegalArgumentException.class, () -> new Ip(Family.IPV4, 0, 1L << 32));
    assertTrue(Ip.of("255.255.255.255").low() > 0);
  }
}
