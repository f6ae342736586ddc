package ipmasq.backend.nftables;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.net.Family;
import ipmasq.net.PortRange;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Namespace;
import ipmasq.testkit.Policies;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What {@code nft list table inet ip-masq-agent} shows to people. */
@KernelTest
@Tag("listing")
class ListingTest {
  private static final PortRange[] PORTS = {
    new PortRange(1024, 29999), new PortRange(32768, 65534), new PortRange(65535, 65535)
  };

  private Namespace namespace;
  private Node node;

  @BeforeEach
  void open() {
    namespace = Namespace.open("listing");
    node = new Node(namespace, true);
  }

  @AfterEach
  void close() {
    node.close();
    namespace.close();
  }

  /** Versions of {@code nft} wrap a set's elements in other places. */
  private void assertListed(String expected) {
    assertEquals(unwrapped(expected), unwrapped(node.listed()));
  }

  private static String unwrapped(String listing) {
    return listing.replaceAll(",\\s+", ", ");
  }

  @Test
  void theDefaults() {
    node.sync(
        Policies.exempting("169.254.0.0/16", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"));
    assertListed(
        """
        table inet ip-masq-agent {
          flags owner
          comment "kept by ip-masq-agent; changes made by hand do not last"

          set exempt4 {
            type ipv4_addr
            flags interval
            counter
            comment "destinations that are not masqueraded"
            elements = { 10.0.0.0/8 counter packets 0 bytes 0, 169.254.0.0/16 counter packets 0 bytes 0,
                   172.16.0.0/12 counter packets 0 bytes 0, 192.168.0.0/16 counter packets 0 bytes 0 }
          }

          chain postrouting4 {
            type nat hook postrouting priority srcnat + 5; policy accept;
            meta nfproto != ipv4 return
            ip daddr @exempt4 counter packets 0 bytes 0 return comment "ip-masq-agent: local traffic is not subject to masquerade"
            fib daddr type local return comment "ip-masq-agent: the node's own addresses"
            counter packets 0 bytes 0 masquerade fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
          }
        }
        """);
  }

  @Test
  void bothFamilies() {
    node.sync(Policies.exempting());
    node.sync(Policies.exempting("fe80::/10", "ff00::/8", "fd00::1/128"));
    assertListed(
        """
        table inet ip-masq-agent {
          flags owner
          comment "kept by ip-masq-agent; changes made by hand do not last"

          set exempt4 {
            type ipv4_addr
            flags interval
            counter
            comment "destinations that are not masqueraded"
          }

          set exempt6 {
            type ipv6_addr
            flags interval
            counter
            comment "destinations that are not masqueraded"
            elements = { fd00::1 counter packets 0 bytes 0,
                   fe80::/10 counter packets 0 bytes 0,
                   ff00::/8 counter packets 0 bytes 0 }
          }

          chain postrouting4 {
            type nat hook postrouting priority srcnat + 5; policy accept;
            meta nfproto != ipv4 return
            ip daddr @exempt4 counter packets 0 bytes 0 return comment "ip-masq-agent: local traffic is not subject to masquerade"
            fib daddr type local return comment "ip-masq-agent: the node's own addresses"
            counter packets 0 bytes 0 masquerade fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
          }

          chain postrouting6 {
            type nat hook postrouting priority srcnat + 5; policy accept;
            meta nfproto != ipv6 return
            ip6 daddr @exempt6 counter packets 0 bytes 0 return comment "ip-masq-agent: local traffic is not subject to masquerade"
            fib daddr type local return comment "ip-masq-agent: the node's own addresses"
            counter packets 0 bytes 0 masquerade fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
          }
        }
        """);
  }

  @Test
  void everyCondition() {
    node.sync(
        Policies.pinned(
            Policies.scoped(
                Policies.of(Family.IPV4, Policies.ports(PORTS), "255.0.0.0/8"),
                List.of("10.244.0.0/16", "10.245.0.0/24"),
                List.of("eth0", "ppp+"))));
    assertListed(
        """
        table inet ip-masq-agent {
          flags owner
          comment "kept by ip-masq-agent; changes made by hand do not last"

          set exempt4 {
            type ipv4_addr
            flags interval
            counter
            comment "destinations that are not masqueraded"
            elements = { 255.0.0.0/8 counter packets 0 bytes 0 }
          }

          set sources4 {
            type ipv4_addr
            flags interval
            counter
            comment "sources whose traffic may be masqueraded"
            elements = { 10.244.0.0/16 counter packets 0 bytes 0, 10.245.0.0/24 counter packets 0 bytes 0 }
          }

          chain postrouting4 {
            type nat hook postrouting priority srcnat + 5; policy accept;
            meta nfproto != ipv4 return
            ip saddr != @sources4 return comment "ip-masq-agent: only traffic from sourceCIDRs"
            oifname != "eth0" oifname != "ppp*" return comment "ip-masq-agent: only traffic out of outputInterface"
            ip daddr @exempt4 counter packets 0 bytes 0 return comment "ip-masq-agent: local traffic is not subject to masquerade"
            fib daddr type local return comment "ip-masq-agent: the node's own addresses"
            meta l4proto tcp numgen random mod 61744 < 28976 counter packets 0 bytes 0 masquerade to :1024-29999 fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
            meta l4proto tcp numgen random mod 32768 < 32767 counter packets 0 bytes 0 masquerade to :32768-65534 fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
            meta l4proto tcp counter packets 0 bytes 0 masquerade to :65535 fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
            meta l4proto udp numgen random mod 61744 < 28976 counter packets 0 bytes 0 masquerade to :1024-29999 fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
            meta l4proto udp numgen random mod 32768 < 32767 counter packets 0 bytes 0 masquerade to :32768-65534 fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
            meta l4proto udp counter packets 0 bytes 0 masquerade to :65535 fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
            meta l4proto sctp numgen random mod 61744 < 28976 counter packets 0 bytes 0 masquerade to :1024-29999 fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
            meta l4proto sctp numgen random mod 32768 < 32767 counter packets 0 bytes 0 masquerade to :32768-65534 fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
            meta l4proto sctp counter packets 0 bytes 0 masquerade to :65535 fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
            counter packets 0 bytes 0 masquerade fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
          }

          chain pin4 {
            type nat hook postrouting priority 85; policy accept;
            meta nfproto != ipv4 return
            ct status dnat return comment "ip-masq-agent: service traffic is not pinned"
            ip saddr != @sources4 return comment "ip-masq-agent: only traffic from sourceCIDRs"
            oifname != "eth0" oifname != "ppp*" return comment "ip-masq-agent: only traffic out of outputInterface"
            fib daddr type local return comment "ip-masq-agent: the node's own addresses"
            ip daddr @exempt4 counter packets 0 bytes 0 snat ip to ip saddr comment "ip-masq-agent: no other chain masquerades this"
          }
        }
        """);
  }

  @Test
  void anotherAddress() {
    node.sync(
        Policies.pinned(
            Policies.of(
                Family.IPV6, Policies.snat("2001:db8::1", "2001:db8::9", PORTS), "fd00::/8")));
    node.sync(Policies.of(Family.IPV4, Policies.snat("192.0.2.1", "192.0.2.1"), "10.0.0.0/8"));
    assertListed(
        """
        table inet ip-masq-agent {
          flags owner
          comment "kept by ip-masq-agent; changes made by hand do not last"

          set exempt6 {
            type ipv6_addr
            flags interval
            counter
            comment "destinations that are not masqueraded"
            elements = { fd00::/8 counter packets 0 bytes 0 }
          }

          set exempt4 {
            type ipv4_addr
            flags interval
            counter
            comment "destinations that are not masqueraded"
            elements = { 10.0.0.0/8 counter packets 0 bytes 0 }
          }

          chain postrouting6 {
            type nat hook postrouting priority srcnat + 5; policy accept;
            meta nfproto != ipv6 return
            ip6 daddr @exempt6 counter packets 0 bytes 0 return comment "ip-masq-agent: local traffic is not subject to masquerade"
            fib daddr type local return comment "ip-masq-agent: the node's own addresses"
            meta l4proto tcp numgen random mod 61744 < 28976 counter packets 0 bytes 0 snat ip6 to [2001:db8::1]-[2001:db8::9]:1024-29999 fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
            meta l4proto tcp numgen random mod 32768 < 32767 counter packets 0 bytes 0 snat ip6 to [2001:db8::1]-[2001:db8::9]:32768-65534 fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
            meta l4proto tcp counter packets 0 bytes 0 snat ip6 to [2001:db8::1]-[2001:db8::9]:65535 fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
            meta l4proto udp numgen random mod 61744 < 28976 counter packets 0 bytes 0 snat ip6 to [2001:db8::1]-[2001:db8::9]:1024-29999 fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
            meta l4proto udp numgen random mod 32768 < 32767 counter packets 0 bytes 0 snat ip6 to [2001:db8::1]-[2001:db8::9]:32768-65534 fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
            meta l4proto udp counter packets 0 bytes 0 snat ip6 to [2001:db8::1]-[2001:db8::9]:65535 fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
            meta l4proto sctp numgen random mod 61744 < 28976 counter packets 0 bytes 0 snat ip6 to [2001:db8::1]-[2001:db8::9]:1024-29999 fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
            meta l4proto sctp numgen random mod 32768 < 32767 counter packets 0 bytes 0 snat ip6 to [2001:db8::1]-[2001:db8::9]:32768-65534 fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
            meta l4proto sctp counter packets 0 bytes 0 snat ip6 to [2001:db8::1]-[2001:db8::9]:65535 fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
            counter packets 0 bytes 0 snat ip6 to 2001:db8::1-2001:db8::9 fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
          }

          chain pin6 {
            type nat hook postrouting priority 85; policy accept;
            meta nfproto != ipv6 return
            ct status dnat return comment "ip-masq-agent: service traffic is not pinned"
            fib daddr type local return comment "ip-masq-agent: the node's own addresses"
            ip6 daddr @exempt6 counter packets 0 bytes 0 snat ip6 to ip6 saddr comment "ip-masq-agent: no other chain masquerades this"
          }

          chain postrouting4 {
            type nat hook postrouting priority srcnat + 5; policy accept;
            meta nfproto != ipv4 return
            ip daddr @exempt4 counter packets 0 bytes 0 return comment "ip-masq-agent: local traffic is not subject to masquerade"
            fib daddr type local return comment "ip-masq-agent: the node's own addresses"
            counter packets 0 bytes 0 snat ip to 192.0.2.1 fully-random comment "ip-masq-agent: outbound traffic is subject to masquerade"
          }
        }
        """);
  }
}
