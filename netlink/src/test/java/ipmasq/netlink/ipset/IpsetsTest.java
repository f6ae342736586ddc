package ipmasq.netlink.ipset;

import static ipmasq.netlink.OwnNamespace.output;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.netlink.Answer;
import ipmasq.netlink.Errno;
import ipmasq.netlink.KernelTest;
import ipmasq.netlink.NetlinkFailure;
import ipmasq.netlink.OwnNamespace;
import ipmasq.netlink.ipset.IpsetElement.IpsetBlock;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Sets that {@code ipset} makes in a namespace of our own. */
@KernelTest
class IpsetsTest {
  private static final int MANY = 4096;

  private static IpsetContent content(Ipsets ipsets, String name) {
    return given(ipsets.content(name, MANY));
  }

  private static <T> T given(Answer<T> answer) {
    if (answer instanceof Answer.Given<T>(var value)) {
      return value;
    }
    throw new AssertionError(answer);
  }

  private static String text(IpsetElement element) {
    return element.first().map(IpsetsTest::text).orElse("")
        + (element.port() == 0 ? "" : "," + element.protocol() + ":" + element.port())
        + element.second().map(second -> "," + text(second)).orElse("")
        + (element.except() ? " nomatch" : "");
  }

  private static String text(IpsetBlock block) {
    try {
      return InetAddress.getByAddress(block.address()).getHostAddress() + "/" + block.prefix();
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
  }

  private static List<String> sorted(IpsetContent content) {
    return List.copyOf(new TreeSet<>(content.elements().stream().map(IpsetsTest::text).toList()));
  }

  @Test
  void typesAndElements() throws Exception {
    OwnNamespace.run(
        () -> {
          make("nets hash:net counters comment", "10.0.0.0/8", "10.1.0.0/16 nomatch", "192.0.2.1");
          make("ips hash:ip netmask 24", "192.0.2.7");
          make("six hash:ip family inet6", "2001:db8::1");
          make("bits bitmap:ip range 10.0.0.0/24", "10.0.0.1-10.0.0.2");
          make("ends hash:ip,port,ip", "10.0.0.1,tcp:80,10.0.0.2");
          make("wide hash:ip,port,net", "10.0.0.1,udp:53,192.0.2.0/24");
          make("short hash:ip timeout 600", "10.0.0.1");
          make("none hash:ip");
          make("list list:set", "none");
          try (Ipsets ipsets = Ipsets.open()) {
            IpsetContent nets = content(ipsets, "nets");
            assertEquals("hash:net", given(ipsets.find("nets")).type());
            assertEquals(2, given(ipsets.find("nets")).family());
            assertTrue(nets.whole());
            assertFalse(nets.expires() || nets.masked());
            assertEquals(
                List.of("10.0.0.0/8", "10.1.0.0/16 nomatch", "192.0.2.1/32"), sorted(nets));
            assertEquals(List.of("192.0.2.0/24"), sorted(content(ipsets, "ips")));
            assertEquals(List.of("2001:db8:0:0:0:0:0:1/128"), sorted(content(ipsets, "six")));
            assertEquals(List.of("10.0.0.1/32", "10.0.0.2/32"), sorted(content(ipsets, "bits")));
            assertEquals(List.of("10.0.0.1/32,6:80,10.0.0.2/32"), sorted(content(ipsets, "ends")));
            assertEquals(
                List.of("10.0.0.1/32,17:53,192.0.2.0/24"), sorted(content(ipsets, "wide")));
            assertTrue(content(ipsets, "short").expires());
            assertEquals(List.of(), content(ipsets, "none").elements());
          }
        });
  }

  private static void make(String set, String... elements) throws Exception {
    output(("ipset create " + set).split(" "));
    for (String element : elements) {
      output(("ipset add " + set.split(" ")[0] + " " + element).split(" "));
    }
  }

  @Test
  void oneElement() throws Exception {
    OwnNamespace.run(
        () -> {
          make("nets hash:net", "10.0.0.0/8", "10.1.0.0/16 nomatch");
          make("six hash:ip family inet6", "2001:db8::1");
          make("ports hash:ip,port", "10.0.0.1,tcp:80");
          make("ends hash:ip,port,net", "10.0.0.1,udp:53,192.0.2.0/24");
          make("bits bitmap:ip range 10.0.0.0/24", "10.0.0.1");
          make("list list:set", "nets");
          IpsetKey one = key("10.0.0.1");
          try (Ipsets ipsets = Ipsets.open()) {
            assertEquals(
                new Ipsets.Ipset("ends", "hash:ip,port,net", 2), given(ipsets.find("ends")));
            assertEquals(10, given(ipsets.find("six")).family());
            assertEquals("list:set", given(ipsets.find("list")).type());
            assertRefused(Errno.ENOENT, ipsets.find("none"));
            assertRefused(Errno.ENOENT, ipsets.content("none", MANY));
            assertRefused(Errno.ENOENT, ipsets.test("none", one));

            assertIn(true, ipsets, "nets", one);
            assertIn(false, ipsets, "nets", key("10.1.2.3")); // nomatch
            assertIn(false, ipsets, "nets", key("192.0.2.1"));
            assertIn(true, ipsets, "six", key("2001:db8::1"));
            assertIn(false, ipsets, "six", key("2001:db8::2"));
            assertIn(true, ipsets, "ports", one.withPort(6, 80));
            assertIn(false, ipsets, "ports", one.withPort(17, 80));
            assertIn(false, ipsets, "ports", one.withPort(6, 81));
            assertIn(true, ipsets, "ends", one.withPort(17, 53).withSecond(ip("192.0.2.9")));
            assertIn(false, ipsets, "ends", one.withPort(17, 53).withSecond(ip("192.0.3.9")));
            assertIn(true, ipsets, "bits", one);
            assertIn(false, ipsets, "bits", key("10.0.1.1")); // outside its range
          }
        });
  }

  private static void assertIn(boolean expected, Ipsets ipsets, String set, IpsetKey key) {
    assertEquals(expected, given(ipsets.test(set, key)), set + " " + key);
  }

  private static IpsetKey key(String address) throws UnknownHostException {
    return IpsetKey.address(ip(address));
  }

  private static byte[] ip(String address) throws UnknownHostException {
    return InetAddress.getByName(address).getAddress();
  }

  private static void assertRefused(Errno errno, Answer<?> answer) {
    NetlinkFailure failure = assertInstanceOf(Answer.Failed.class, answer).failure();
    assertEquals(errno, assertInstanceOf(NetlinkFailure.Refused.class, failure).errno());
  }

  @Test
  void noMoreThanTheLimit() throws Exception {
    OwnNamespace.run(
        () -> {
          make("large hash:ip", "10.0.0.0/18");
          try (Ipsets ipsets = Ipsets.open()) {
            IpsetContent all = given(ipsets.content("large", 16_384));
            assertTrue(all.whole());
            assertEquals(16_384, all.elements().size());
            IpsetContent head = given(ipsets.content("large", MANY));
            assertFalse(head.whole());
            assertTrue(head.elements().size() < 8_192, "read " + head.elements().size());
          }
        });
  }
}
