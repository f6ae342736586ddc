package ipmasq.netlink.nftables;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.netlink.nftables.Compute.Bitwise;
import ipmasq.netlink.nftables.Load.MapLookup;
import ipmasq.netlink.nftables.Load.Meta;
import ipmasq.netlink.nftables.Load.Payload;
import ipmasq.netlink.nftables.Match.Cmp;
import ipmasq.netlink.nftables.Match.Lookup;
import ipmasq.netlink.nftables.Statement.Masquerade;
import ipmasq.netlink.nftables.Statement.SetMeta;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RuleTextTest {
  @Test
  void rulesInWords() {
    assertEquals(
        """
        meta nfproto ipv4 ip daddr @keep4 return comment "stays as it is"
        meta nfproto ipv6 ip6 daddr != @keep6 counter packets 3 bytes 180 jump other
        fib daddr type local return
        meta l4proto tcp numgen random mod 100 < 47 masquerade to :1024-29999 fully-random
        meta nfproto ipv4 ip saddr 10.1.0.0/16 meta l4proto udp oifname "eth0" oifname != "wg*" \
        snat ip to 192.0.2.1-192.0.2.3:1024-2000 random
        meta nfproto ipv4 ip saddr 10.2.0.0/15 ct state established,related \
        meta mark & 0x00000010 == 0x00000010 meta l4proto tcp th dport != 80-90 accept
        counter packets 0 bytes 0 masquerade fully-random,persistent comment "last"
        """,
        String.join("\n", Samples.rules().stream().map(Rule::toString).toList()) + "\n");
  }

  @Test
  void registersThatNobodyFilled() {
    assertEquals("? 0x01", text(Cmp.eq(Data.u8(1))));
    assertEquals("? @set", text(new Lookup(99, "set", false)));
    assertEquals("masquerade to :?", text(new Masquerade(Set.of(), 5, 6)));
  }

  @Test
  void keysOfSeveralFields() {
    Expression to = new Payload(9, Payload.Base.NETWORK, 16, 4);
    assertEquals(
        "ip saddr . ip daddr @pairs ip saddr @one",
        text(Payload.IP_SADDR, to, Lookup.in("pairs"), Payload.IP_SADDR, Lookup.in("one")));
    assertEquals(
        "ip saddr . ip daddr vmap @to",
        text(new Payload(8, Payload.Base.NETWORK, 12, 4), to, new MapLookup(1, "to", 0)));
  }

  @Test
  void bitsThatAreKeptFlippedAndSet() {
    Expression mark = new Meta(Meta.Key.MARK);
    Expression set = new SetMeta(1, Meta.Key.MARK);
    assertEquals(
        "meta mark set meta mark & 0x0000001f ^ 0x00000001 | 0x00000010",
        text(mark, new Bitwise(1, 1, Data.hostU32(0xf), Data.hostU32(0x11)), set));
    assertEquals(
        "meta mark & 0x0000000f == @marks",
        text(mark, Bitwise.and(1, Data.hostU32(0xf)), Lookup.in("marks")));
  }

  @Test
  void fieldsWithoutAName() {
    assertEquals(
        "@nh,72,16 0x0102",
        text(new Payload(1, Payload.Base.NETWORK, 9, 2), Cmp.eq(Data.u16(258))));
    assertEquals("iif != 7", text(new Meta(Meta.Key.IIF), Cmp.neq(Data.hostU32(7))));
  }

  @Test
  void addresses() {
    assertEquals("::", v6("::"));
    assertEquals("::1", v6("::1"));
    assertEquals("fd00::", v6("fd00::"));
    assertEquals("2001:db8:0:1::1", v6("2001:db8:0:1:0:0:0:1"));
    assertEquals("2001:0:0:1::", v6("2001:0:0:1:0:0:0:0"));
    assertEquals("1:2:3:4:5:6:7:8", v6("1:2:3:4:5:6:7:8"));
    assertEquals("1::4:0:0:7:8", v6("1:0:0:4:0:0:7:8"));
    assertEquals("0:2:3:4:5:6:7:0", v6("0:2:3:4:5:6:7:0"));
  }

  private static String v6(String address) {
    return Data.of(Addresses.bytes(address)).address();
  }

  private static String text(Expression... expressions) {
    return new Rule(Samples.CHAIN, expressions).toString();
  }
}
