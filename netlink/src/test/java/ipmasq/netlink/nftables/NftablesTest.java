package ipmasq.netlink.nftables;

import static ipmasq.netlink.OwnNamespace.output;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.netlink.Answer;
import ipmasq.netlink.KernelTest;
import ipmasq.netlink.OwnNamespace;
import ipmasq.netlink.nftables.Statement.Verdict;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the kernel makes of our messages, with {@code nft} as the witness. */
@KernelTest
@Tag("listing")
class NftablesTest {
  private static final Table TABLE = Samples.TABLE;
  private static final Chain CHAIN = Samples.CHAIN;
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

  private static void install(Nftables nftables) {
    Batch batch = new Batch().add(TABLE).add(V4).add(V6).add(new Chain(TABLE, "other")).add(CHAIN);
    batch.add(V4, Addresses.ranges("10.0.0.0-10.255.255.255", "240.0.0.0-255.255.255.255"));
    batch.add(
        V6, Addresses.ranges("fd00::-fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8::1"));
    Samples.rules().forEach(batch::add);
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
          List<Chain> chains = given(nftables.chains(TABLE.family()));
          assertEquals(List.of("other", "post"), chains.stream().map(Chain::name).toList());
          assertEquals(CHAIN.base(), chains.get(1).base());
          assertEquals(Optional.of(chains.get(1)), given(nftables.find(CHAIN)));
          List<NftSet> sets = given(nftables.sets(TABLE));
          assertEquals("a set", sets.get(0).commented("a set").comment());
          assertEquals(V4.flags(), sets.get(0).flags());
          assertEquals(V6.key(), sets.get(1).key());
          assertEquals(Optional.of(sets.get(1)), given(nftables.find(V6)));
          List<Rule> rules = given(nftables.rules(CHAIN));
          assertEquals(
              Samples.rules().stream().map(Rule::expressions).toList(),
              rules.stream().map(Rule::expressions).toList());
          assertEquals("stays as it is", rules.getFirst().comment());
          assertNotEquals(0, rules.getFirst().handle());
          assertEquals(Optional.of(rules.size()), given(nftables.uses(CHAIN)));
          assertEquals(rules.size(), given(nftables.count(CHAIN)));
          assertEquals(given(nftables.digest(CHAIN)), given(nftables.digest(CHAIN)));
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
          assertEquals(List.of(), given(nftables.rules(CHAIN)));
          assertEquals(List.of(), given(nftables.sets(TABLE)));
          assertEquals(
              "Optional[No such file or directory (ENOENT)]",
              nftables.elements(V4, _ -> {}).toString());
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
          assertInstanceOf(Commit.Rejected.class, commit);
          assertEquals(
              List.of(
                  "add to set inet masq keep4: File exists (EEXIST)",
                  "flush chain inet masq absent: No such file or directory (ENOENT)",
                  "delete chain inet masq absent: No such file or directory (ENOENT)"),
              ((Commit.Rejected) commit)
                  .complaints().stream().map(Commit.Complaint::toString).toList());
          assertEquals(List.of(), given(nftables.tables()));
        });
  }

  @Test
  void everyCommitChangesTheGeneration() throws Exception {
    inNamespace(
        nftables -> {
          Integer before = given(nftables.generation());
          assertEquals(before, given(nftables.generation()));
          output("nft", "add table ip other");
          assertNotEquals(before, given(nftables.generation()));
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
          commit(nftables, new Batch().add(new Rule(CHAIN, Verdict.ACCEPT).commented("d")));
          List<Rule> rules = given(nftables.rules(CHAIN));
          assertEquals(List.of("c", "d"), rules.stream().map(Rule::comment).toList());
          commit(nftables, new Batch().delete(rules.getFirst()));
          assertEquals(
              List.of("d"), given(nftables.rules(CHAIN)).stream().map(Rule::comment).toList());
          commit(nftables, new Batch().flush(CHAIN));
          assertEquals(List.of(), given(nftables.rules(CHAIN)));
          commit(nftables, new Batch().delete(CHAIN).delete(TABLE));
          assertTrue(given(nftables.tables()).isEmpty());
        });
  }

  @Test
  void rulesOfOthers() throws Exception {
    inNamespace(
        nftables -> {
          output(
              "iptables-nft",
              "-t",
              "nat",
              "-A",
              "POSTROUTING",
              "-m",
              "comment",
              "--comment",
              "mine",
              "-m",
              "addrtype",
              "!",
              "--dst-type",
              "LOCAL",
              "-d",
              "10.0.0.0/9",
              "-j",
              "MASQUERADE");
          output(
              "nft",
              """
              table ip6 proxy {
                map ports { type inet_service : verdict; elements = { 80 : accept, 443 : drop }; }
                chain out {
                  type filter hook output priority -5; policy drop;
                  meta mark set 0x4000 limit rate 10/second log prefix "x" tcp dport vmap @ports
                  ip6 saddr . tcp dport { fd00::1 . 80 } ct mark 7 ip6 daddr fd00::/9 quota over 5 bytes
                  ip6 nexthdr tcp tcp flags syn ip6 saddr != fd12::/16 th sport 1024-2048 goto far
                }
                chain far { reject; }
              }
              """
                  .indent(0));
          List<List<String>> rules =
              Stream.of(TableFamily.IP, TableFamily.IP6)
                  .flatMap(family -> given(nftables.chains(family)).stream())
                  .flatMap(chain -> given(nftables.rules(chain)).stream())
                  .map(rule -> rule.expressions().stream().map(NftablesTest::kind).toList())
                  .toList();
          assertEquals(
              List.of("Payload", "Bitwise", "Cmp", "Xtables", "Xtables", "Counter", "Xtables"),
              rules.getFirst());
          assertEquals(List.of("Immediate", "SetMeta", "limit", "log"), rules.get(1).subList(0, 4));
          assertEquals("MapLookup", rules.get(1).getLast());
          assertTrue(rules.get(2).containsAll(List.of("Lookup", "Ct", "quota")));
          assertEquals("Verdict", rules.get(3).getLast());
          assertEquals(List.of("reject"), rules.get(4));
        });
  }

  private static String kind(Expression expression) {
    return expression instanceof Expression.Unknown unknown
        ? unknown.name()
        : expression.getClass().getSimpleName();
  }

  @Test
  void chainsThatDrop() throws Exception {
    inNamespace(
        nftables -> {
          Chain.BaseHook base = new Chain.BaseHook("filter", Hook.FORWARD, -5, Chain.Policy.DROP);
          Chain chain = new Chain(TABLE.family(), TABLE.name(), "fwd", Optional.of(base));
          commit(nftables, new Batch().add(TABLE).add(chain));
          assertEquals(Optional.of(base), given(nftables.find(chain)).orElseThrow().base());
          assertTrue(
              output("nft", "list", "ruleset")
                  .contains("type filter hook forward priority filter - 5; policy drop;"));
        });
  }
}
