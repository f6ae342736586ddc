package ipmasq.netlink.nftables;

import static ipmasq.netlink.OwnNamespace.output;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.netlink.Answer;
import ipmasq.netlink.Errno;
import ipmasq.netlink.KernelTest;
import ipmasq.netlink.OwnNamespace;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What the kernel makes of our messages, with {@code nft} as the witness. */
@KernelTest
class NftablesTest {
  private static final Table TABLE = new Table(TableFamily.INET, "masq").commented("a table");
  private static final Chain CHAIN =
      new Chain(TABLE, "post", "nat", Hook.POSTROUTING, 90).commented("a chain");
  private static final NftSet V4 =
      NftSet.intervals(TABLE, "keep4", KeyType.IPV4_ADDR).commented("a set");
  private static final NftSet V6 = NftSet.intervals(TABLE, "keep6", KeyType.IPV6_ADDR);

  private static void inNamespace(Body body) throws Exception {
    OwnNamespace.run(
        () -> {
          try (Nftables nftables = Nftables.open()) {
            body.run(nftables);
          }
        });
  }

  private interface Body {
    void run(Nftables nftables) throws Exception;
  }

  private static void commit(Nftables nftables, Batch batch) {
    assertEquals(new Commit.Committed(), nftables.commit(batch));
  }

  private static <T> T given(Answer<T> answer) {
    return switch (answer) {
      case Answer.Given<T>(var value) -> value;
      case Answer.Failed<T>(var failure) -> throw new AssertionError(failure.toString());
    };
  }

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

  private static void install(Nftables nftables) {
    Batch batch = new Batch().add(TABLE).add(V4).add(V6).add(new Chain(TABLE, "other")).add(CHAIN);
    batch.add(V4, Addresses.ranges("10.0.0.0-10.255.255.255", "240.0.0.0-255.255.255.255"));
    batch.add(
        V6, Addresses.ranges("fd00::-fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8::1"));
    rules().forEach(batch::add);
    commit(nftables, batch);
  }

  @Test
  void nftShowsWhatWasMeant() throws Exception {
    inNamespace(
        nftables -> {
          install(nftables);
          assertEquals(
              """
              table inet masq {
              	comment "a table"
              	set keep4 {
              		type ipv4_addr
              		flags interval
              		comment "a set"
              		elements = { 10.0.0.0/8, 240.0.0.0/4 }
              	}

              	set keep6 {
              		type ipv6_addr
              		flags interval
              		elements = { 2001:db8::1,
              			     fd00::/8 }
              	}

              	chain other {
              	}

              	chain post {
              		comment "a chain"
              		type nat hook postrouting priority srcnat - 10; policy accept;
              		ip daddr @keep4 return comment "stays as it is"
              		ip6 daddr != @keep6 counter packets 3 bytes 180 jump other
              		fib daddr type local return
              		meta l4proto tcp numgen random mod 100 < 47 masquerade to :1024-29999 fully-random
              		ip saddr 10.1.0.0/16 meta l4proto udp oifname "eth0" oifname != "wg*" snat ip to 192.0.2.1-192.0.2.3:1024-2000 random
              		ip saddr 10.2.0.0/15 ct state established,related meta mark & 0x00000010 == 0x00000010 tcp dport != 80-90 accept
              		counter packets 0 bytes 0 masquerade fully-random,persistent comment "last"
              	}
              }
              """,
              output("nft", "list", "ruleset"));
        });
  }

  @Test
  void whatIsReadIsWhatWasWritten() throws Exception {
    inNamespace(
        nftables -> {
          install(nftables);
          Table table = given(nftables.tables()).getFirst();
          assertEquals(TABLE, new Table(table.family(), table.name()).commented(table.comment()));
          assertEquals(Optional.of(table), given(nftables.find(TABLE)));
          List<Chain> chains = given(nftables.chains());
          assertEquals(List.of("other", "post"), chains.stream().map(Chain::name).toList());
          assertEquals(CHAIN.base(), chains.get(1).base());
          assertEquals("a chain", chains.get(1).comment());
          assertEquals(Optional.of(chains.get(1)), given(nftables.find(CHAIN)));
          List<NftSet> sets = given(nftables.sets(TABLE));
          assertEquals("a set", sets.get(0).commented("a set").comment());
          assertEquals(V4.flags(), sets.get(0).flags());
          assertEquals(V6.key(), sets.get(1).key());
          assertEquals(Optional.of(sets.get(1)), given(nftables.find(V6)));
          List<Rule> rules = given(nftables.rules(CHAIN));
          assertEquals(
              rules().stream().map(Rule::expressions).toList(),
              rules.stream().map(Rule::expressions).toList());
          assertEquals("stays as it is", rules.getFirst().comment());
          assertNotEquals(0, rules.getFirst().handle());
          assertEquals(rules, given(nftables.rules(TABLE)));
          assertEquals(List.of(), given(nftables.rules(new Chain(TABLE, "other"))));
        });
  }

  @Test
  void whatIsNotThere() throws Exception {
    inNamespace(
        nftables -> {
          assertEquals(List.of(), given(nftables.tables()));
          assertEquals(Optional.empty(), given(nftables.find(TABLE)));
          assertEquals(Optional.empty(), given(nftables.find(CHAIN)));
          assertEquals(Optional.empty(), given(nftables.find(V4)));
          System.err.println(nftables.rules(CHAIN));
          System.err.println(nftables.sets(TABLE));
          System.err.println(nftables.elements(V4, (_, _, _) -> {}));
        });
  }

  @Test
  void rangesThatTouchStayApart() throws Exception {
    inNamespace(
        nftables -> {
          commit(nftables, new Batch().add(TABLE).add(V4));
          commit(
              nftables,
              new Batch()
                  .add(
                      V4,
                      Addresses.ranges(
                          "0.0.0.0",
                          "10.0.0.0-10.255.255.255",
                          "11.0.0.0-11.255.255.255",
                          "12.0.0.0",
                          "12.0.0.1",
                          "224.0.0.0-239.255.255.255",
                          "240.0.0.0-255.255.255.255")));
          assertEquals(
              List.of(
                  "240.0.0.0-255.255.255.255",
                  "224.0.0.0-239.255.255.255",
                  "12.0.0.1-12.0.0.1",
                  "12.0.0.0-12.0.0.0",
                  "11.0.0.0-11.255.255.255",
                  "10.0.0.0-10.255.255.255",
                  "0.0.0.0-0.0.0.0"),
              Addresses.in(nftables, V4));
          commit(
              nftables,
              new Batch()
                  .delete(V4, Addresses.ranges("11.0.0.0-11.255.255.255", "12.0.0.0"))
                  .delete(V4, Addresses.ranges("240.0.0.0-255.255.255.255", "0.0.0.0")));
          assertEquals(
              List.of("224.0.0.0-239.255.255.255", "12.0.0.1-12.0.0.1", "10.0.0.0-10.255.255.255"),
              Addresses.in(nftables, V4));
          System.err.println(output("nft", "list", "ruleset"));
        });
  }

  @Test
  void rangesThatNftMade() throws Exception {
    inNamespace(
        nftables -> {
          output(
              "nft",
              "add table inet masq; add set inet masq keep4 { type ipv4_addr; flags interval; elements = { 10.0.0.0/8, 12.0.0.0/8, 250.0.0.0-255.255.255.255 } }");
          assertEquals(
              List.of(
                  "250.0.0.0-255.255.255.255",
                  "12.0.0.0-12.255.255.255",
                  "10.0.0.0-10.255.255.255"),
              Addresses.in(nftables, V4));
        });
  }

  @Test
  void refusalsNameTheStep() throws Exception {
    inNamespace(
        nftables -> {
          Batch batch = new Batch().add(TABLE).add(V4);
          batch.add(V4, Addresses.ranges("10.0.0.0-10.255.255.255", "10.1.0.0-10.1.0.255"));
          batch.delete(new Chain(TABLE, "absent"));
          Commit commit = nftables.commit(batch);
          System.err.println(commit);
          assertInstanceOf(Commit.Refused.class, commit);
          assertEquals(List.of(), given(nftables.tables()));
        });
  }

  @Test
  void aRaceIsLost() throws Exception {
    inNamespace(
        nftables -> {
          Generation before = given(nftables.generation());
          assertEquals(before, given(nftables.generation()));
          output("nft", "add table ip other");
          Generation after = given(nftables.generation());
          assertNotEquals(before, after);
          assertEquals(
              new Commit.Raced(Errno.ERESTART), nftables.commit(Batch.after(before).add(TABLE)));
          commit(nftables, Batch.after(after).add(TABLE));
        });
  }

  @Test
  void nothingToCommit() throws Exception {
    inNamespace(nftables -> commit(nftables, new Batch()));
  }

  @Test
  void rulesInTheirPlaces() throws Exception {
    inNamespace(
        nftables -> {
          commit(
              nftables,
              new Batch()
                  .add(TABLE)
                  .add(CHAIN)
                  .add(new Rule(CHAIN, Verdict.ACCEPT).commented("c")));
          Rule c = given(nftables.rules(CHAIN)).getFirst();
          commit(
              nftables,
              new Batch()
                  .insert(new Rule(CHAIN, Verdict.ACCEPT).commented("a"))
                  .insertBefore(new Rule(CHAIN, Verdict.ACCEPT).commented("b"), c.handle())
                  .addAfter(new Rule(CHAIN, Verdict.ACCEPT).commented("d"), c.handle())
                  .add(new Rule(CHAIN, Verdict.ACCEPT).commented("e")));
          assertEquals(
              List.of("a", "b", "c", "d", "e"),
              given(nftables.rules(CHAIN)).stream().map(Rule::comment).toList());
          commit(nftables, new Batch().replace(c.commented("C")));
          List<Rule> rules = given(nftables.rules(CHAIN));
          assertEquals("C", rules.get(2).comment());
          commit(nftables, new Batch().delete(rules.get(1)).delete(rules.get(3)));
          assertEquals(
              List.of("a", "C", "e"),
              given(nftables.rules(CHAIN)).stream().map(Rule::comment).toList());
          commit(nftables, new Batch().flush(CHAIN));
          assertEquals(List.of(), given(nftables.rules(CHAIN)));
          commit(nftables, new Batch().delete(CHAIN).delete(TABLE));
          assertTrue(given(nftables.tables()).isEmpty());
        });
  }
}
