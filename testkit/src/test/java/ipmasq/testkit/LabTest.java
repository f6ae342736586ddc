package ipmasq.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import ipmasq.testkit.Sighting.Seen;
import ipmasq.testkit.Sighting.Unseen;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@KernelTest
class LabTest {
  private static final List<String> FAR =
      List.of(
          "8.8.8.8",
          "10.1.2.3",
          "172.16.0.1",
          "169.254.169.254",
          "192.0.2.77",
          "203.0.113.9",
          "255.0.0.1",
          "2600::1",
          "fd00::1",
          "2001:db8:2::77");
  private Lab lab;

  @BeforeEach
  void open() {
    lab = Lab.open();
  }

  @AfterEach
  void close() {
    lab.close();
  }

  private void masquerade() {
    for (String program : List.of("iptables", "ip6tables")) {
      lab.node().run(program, "-t", "nat", "-A", "POSTROUTING", "-j", "MASQUERADE").ok();
    }
  }

  @Test
  void withoutNatTheOutsideSeesThePod() {
    for (InetAddress destination : FAR.stream().map(InetAddress::ofLiteral).toList()) {
      for (Probe probe : List.of(Probe.udp(destination), Probe.tcp(destination))) {
        Seen seen = lab.send(probe.sourcePort(12345)).seen();
        assertEquals(new Seen(lab.outside(), Lab.POD.like(destination), 12345), seen);
      }
    }
  }

  @Test
  void withMasqueradeTheOutsideSeesTheNode() {
    masquerade();
    for (InetAddress destination : FAR.stream().map(InetAddress::ofLiteral).toList()) {
      assertEquals(Lab.NODE.like(destination), lab.send(Probe.udp(destination)).source());
      assertEquals(Lab.NODE.like(destination), lab.send(Probe.tcp(destination)).source());
    }
  }

  @Test
  void whatTheNodeDropsNobodySees() {
    lab.node().run("iptables", "-A", "FORWARD", "-j", "DROP").ok();
    Duration shortly = Duration.ofMillis(100);
    assertInstanceOf(Unseen.class, lab.send(Probe.udp("8.8.8.8"), shortly));
    assertInstanceOf(Seen.class, lab.send(Probe.udp("8.8.8.8").from(lab.node()), shortly));
  }

  @Test
  void hundredsOfPacketsGoTogether() {
    List<Probe> probes = new ArrayList<>();
    for (int i = 0; i < 250; i++) {
      probes.add(Probe.udp("198.18.0." + i));
      probes.add(Probe.tcp("2001:db8:5::" + i).from(lab.node()));
    }
    List<Sighting> sightings = lab.sendAll(probes);
    for (int i = 0; i < probes.size(); i += 2) {
      assertEquals(Lab.POD.v4(), sightings.get(i).source());
      assertEquals(Lab.NODE.v6(), sightings.get(i + 1).source());
    }
  }

  @Test
  void flowKeepsItsSourceWhileNewOnesFollowTheRules() {
    try (Flow udp = lab.flow(Probe.udp("8.8.8.8"));
        Flow tcp = lab.flow(Probe.tcp("8.8.8.8"))) {
      // A namespace tracks connections only once some rule needs it.
      lab.node().run("iptables -t nat -A POSTROUTING -d 10.0.0.0/8 -j MASQUERADE".split(" ")).ok();
      assertEquals(Lab.POD.v4(), udp.send().source());
      assertEquals(Lab.POD.v4(), tcp.send().source());
      masquerade();
      assertEquals(Lab.POD.v4(), udp.send().source());
      assertEquals(Lab.POD.v4(), tcp.send().source());
      assertEquals(Lab.NODE.v4(), lab.send(Probe.udp("8.8.8.8")).source());
    }
  }

  @Test
  void linkLocalIpv6ShowsWithPacketsOfTheNode() {
    Probe probe = Probe.udp(lab.neighbour()).from(lab.node()).source(Lab.NODE.v6());
    assertEquals(Lab.NODE.v6(), lab.send(probe).source());
    masquerade();
    assertEquals(InetAddress.ofLiteral("fe80::10"), withoutScope(lab.send(probe).source()));
  }

  private static InetAddress withoutScope(InetAddress address) {
    return InetAddress.ofLiteral(address.getHostAddress().replaceAll("%.*", ""));
  }

  @Test
  void packetsThatEndOnTheNodeAreSeenThere() {
    assertEquals(lab.node(), lab.send(Probe.udp(Lab.NODE.v4())).seen().where());
    assertEquals(lab.node(), lab.send(Probe.tcp("fd00:244:1::1")).seen().where());
  }

  @Test
  void anotherPodTalksToTheFirstAndToTheOutside() {
    Namespace other = lab.addPod("10.245.7.2", "fd00:245:7::2");
    Addresses addresses = Addresses.of("10.245.7.2", "fd00:245:7::2");
    for (InetAddress far : List.of(Lab.POD.v4(), Lab.POD.v6())) {
      assertEquals(
          new Seen(lab.pod(), addresses.like(far), 999),
          lab.send(Probe.tcp(far).from(other).sourcePort(999)));
      assertEquals(other, lab.send(Probe.udp(addresses.like(far))).seen().where());
    }
    assertEquals(addresses.v6(), lab.send(Probe.tcp("2600::1").from(other)).source());
  }

  @Test
  void anotherUplinkMasqueradesWithItsOwnAddress() {
    String uplink = lab.addUplink("198.51.100.10", "2001:db8:3::10");
    lab.routeBy(uplink, "8.8.0.0/16", "2600::/16");
    assertEquals(Lab.POD.v4(), lab.send(Probe.tcp("8.8.8.8")).source());
    masquerade();
    Addresses second = Addresses.of("198.51.100.10", "2001:db8:3::10");
    assertEquals(second.v4(), lab.send(Probe.tcp("8.8.8.8")).source());
    assertEquals(second.v6(), lab.send(Probe.tcp("2600::1")).source());
    assertEquals(second.v4(), lab.send(Probe.udp("198.51.100.77")).source());
    assertEquals(Lab.NODE.v4(), lab.send(Probe.tcp("9.9.9.9")).source());
  }

  @Test
  void moreAddressesCanBeSentFromAndTranslatedTo() {
    lab.pod().ip("addr add 10.244.1.3/24 dev eth0");
    InetAddress second = InetAddress.ofLiteral("10.244.1.3");
    assertEquals(second, lab.send(Probe.tcp("8.8.8.8").source(second)).source());
    lab.node().ip("addr add 192.0.2.50/32 dev eth0");
    lab.node()
        .run("iptables -t nat -A POSTROUTING -o eth0 -j SNAT --to-source 192.0.2.50".split(" "))
        .ok();
    assertEquals(InetAddress.ofLiteral("192.0.2.50"), lab.send(Probe.tcp("8.8.8.8")).source());
  }

  @Test
  void carriesWhatTheKernelForwards() {
    for (String far : List.of("1.2.3.4", "240.0.0.1", "192.0.2.0", "192.0.2.1", "2001:db8:2::1")) {
      InetAddress address = InetAddress.ofLiteral(far);
      assertEquals(true, lab.carries(address), far);
      assertEquals(lab.outside(), lab.send(Probe.udp(address)).seen().where());
    }
    Duration shortly = Duration.ofMillis(50);
    for (String near :
        List.of("192.0.2.10", "192.0.2.255", "10.244.1.9", "224.0.0.1", "255.255.255.255", "::1")) {
      InetAddress address = InetAddress.ofLiteral(near);
      assertEquals(false, lab.carries(address), near);
      if (lab.send(Probe.udp(address), shortly) instanceof Seen(var where, _, _)) {
        assertNotEquals(lab.outside(), where, near);
      }
    }
  }
}
