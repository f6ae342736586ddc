package ipmasq.netlink.nftables;

import ipmasq.netlink.Data;
import ipmasq.netlink.nftables.Compute.Bitwise;
import ipmasq.netlink.nftables.Compute.Byteorder;
import ipmasq.netlink.nftables.Compute.Immediate;
import ipmasq.netlink.nftables.Compute.Numgen;
import ipmasq.netlink.nftables.Load.Ct;
import ipmasq.netlink.nftables.Load.Fib;
import ipmasq.netlink.nftables.Load.Meta;
import ipmasq.netlink.nftables.Load.Payload;
import ipmasq.netlink.nftables.Match.Cmp;
import ipmasq.netlink.nftables.Match.InRange;
import ipmasq.netlink.nftables.Match.Lookup;
import ipmasq.netlink.nftables.Statement.Counter;
import ipmasq.netlink.nftables.Statement.Masquerade;
import ipmasq.netlink.nftables.Statement.Nat;
import ipmasq.netlink.nftables.Statement.NatFlag;
import ipmasq.netlink.nftables.Statement.Verdict;
import java.util.List;
import java.util.Set;

/** Objects of every kind. */
final class Samples {
  static final Table TABLE = new Table(TableFamily.INET, "masq").commented("a table");
  static final Chain CHAIN = new Chain(TABLE, "post", "nat", Hook.POSTROUTING, 90);

  private Samples() {}

  static List<Rule> rules() {
    return List.of(
        new Rule(
                CHAIN,
                new Meta(Meta.Key.NFPROTO),
                Cmp.eq(Meta.IPV4),
                Payload.IP_DADDR,
                Lookup.in("keep4"),
                Verdict.RETURN)
            .commented("stays as it is"),
        new Rule(
            CHAIN,
            new Meta(Meta.Key.NFPROTO),
            Cmp.eq(Meta.IPV6),
            Payload.IP6_DADDR,
            new Lookup(1, "keep6", true),
            new Counter(3, 180),
            Verdict.jump("other")),
        new Rule(CHAIN, Fib.destinationType(), Cmp.eq(Fib.LOCAL), Verdict.RETURN),
        new Rule(
            CHAIN,
            new Meta(Meta.Key.L4PROTO),
            Cmp.eq(Data.u8(6)),
            Numgen.random(100),
            Byteorder.toNetwork(1),
            new Cmp(1, Cmp.Operator.LT, Data.u32(47)),
            new Immediate(1, Data.u16(1024)),
            new Immediate(2, Data.u16(29999)),
            new Masquerade(Set.of(NatFlag.FULLY_RANDOM), 1, 2)),
        new Rule(
            CHAIN,
            new Meta(Meta.Key.NFPROTO),
            Cmp.eq(Meta.IPV4),
            new Payload(1, Payload.Base.NETWORK, 12, 2),
            Cmp.eq(Data.of((byte) 10, (byte) 1)),
            new Meta(Meta.Key.L4PROTO),
            Cmp.eq(Data.u8(17)),
            new Meta(Meta.Key.OIFNAME),
            Cmp.eq(Data.interfaceName("eth0")),
            new Meta(Meta.Key.OIFNAME),
            Cmp.neq(Data.interfacePrefix("wg")),
            new Immediate(1, Data.of(Addresses.bytes("192.0.2.1"))),
            new Immediate(2, Data.of(Addresses.bytes("192.0.2.3"))),
            new Immediate(3, Data.u16(1024)),
            new Immediate(4, Data.u16(2000)),
            new Nat(Nat.Kind.SNAT, TableFamily.IP, 1, 2, 3, 4, Set.of(NatFlag.RANDOM))),
        new Rule(
            CHAIN,
            new Meta(Meta.Key.NFPROTO),
            Cmp.eq(Meta.IPV4),
            Payload.IP_SADDR,
            Bitwise.and(1, Data.u32(0xfffe0000)),
            Cmp.eq(Data.of(Addresses.bytes("10.2.0.0"))),
            new Ct(1, Ct.Key.STATE),
            Bitwise.and(1, Data.hostU32(6)),
            Cmp.neq(Data.u32(0)),
            new Meta(Meta.Key.MARK),
            Bitwise.and(1, Data.hostU32(0x10)),
            Cmp.eq(Data.hostU32(0x10)),
            new Meta(Meta.Key.L4PROTO),
            Cmp.eq(Data.u8(6)),
            Payload.DPORT,
            new InRange(1, true, Data.u16(80), Data.u16(90)),
            Verdict.ACCEPT),
        new Rule(
                CHAIN,
                new Counter(0, 0),
                new Masquerade(Set.of(NatFlag.FULLY_RANDOM, NatFlag.PERSISTENT)))
            .commented("last"));
  }
}
