package ipmasq.backend.nftables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Ip;
import ipmasq.netlink.nftables.Counter;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class Slash8IndexTest {
  @Test
  void nothingLiesNowhere() {
    assertEquals(List.of(), around());
  }

  @Test
  void rangesOfOneAreaShareIt() {
    assertEquals(
        List.of("10.0.0.0/8", "172.0.0.0/8"),
        around("10.0.0.0/16", "10.1.2.3/32", "10.255.0.0/16", "172.16.0.0/12"));
  }

  @Test
  void wideRangesHaveSeveral() {
    assertEquals(
        List.of("8.0.0.0/8", "9.0.0.0/8", "10.0.0.0/8", "11.0.0.0/8", "12.0.0.0/8"),
        around("8.0.0.0/6", "12.0.0.0/9"));
  }

  @Test
  void wideRangesAfterOthersHaveAll() {
    assertEquals(
        List.of("10.0.0.0/8", "12.0.0.0/8", "13.0.0.0/8", "14.0.0.0/8", "15.0.0.0/8"),
        around("10.0.0.0/16", "10.128.0.0/9", "12.0.0.0/7", "14.0.0.0/7"));
    assertEquals(
        List.of("11.0.0.0/8", "12.0.0.0/8", "13.0.0.0/8"), around("11.0.0.0/9", "12.0.0.0/7"));
  }

  @Test
  void theEndsAreTaken() {
    assertEquals(List.of("0.0.0.0/8", "255.0.0.0/8"), around("0.0.0.0/32", "255.255.255.255/32"));
    assertEquals(256, around("0.0.0.0/0").size());
    assertEquals(256, around("::/0").size());
  }

  @Test
  void addressesOfVersionSixHaveThemToo() {
    assertEquals(
        List.of("fc00::/8", "fd00::/8", "fe00::/8"), around("fc00::/7", "fe80::/10", "fec0::/10"));
  }

  @Test
  void isReadInWhateverOrder() {
    Slash8Index areas = new Slash8Index();
    areas.element(Ip.of("192.0.0.0").bytes(), false, new Counter(0, 0));
    areas.element(Ip.of("10.0.0.0").bytes(), false, new Counter(0, 0));
    assertEquals(cidrs("10.0.0.0/8", "192.0.0.0/8"), areas.content().blocks());
    assertFalse(areas.content().odd());
  }

  @Test
  void whatIsNoAreaShows() {
    Slash8Index areas = new Slash8Index();
    areas.element(Ip.of("10.0.0.1").bytes(), false, new Counter(0, 0));
    assertTrue(areas.content().odd());
  }

  private static List<String> around(String... ranges) {
    return Slash8Index.around(cidrs(ranges)).stream().map(Cidr::toString).toList();
  }

  private static Cidrs cidrs(String... ranges) {
    return Cidrs.copyOf(Stream.of(ranges).map(Cidr::of).toList());
  }
}
