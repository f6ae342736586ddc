package ipmasq.netlink.nftables;

import static ipmasq.netlink.OwnNamespace.output;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.netlink.Answer;
import ipmasq.netlink.Data;
import ipmasq.netlink.KernelTest;
import ipmasq.netlink.NetlinkFailure;
import ipmasq.netlink.OwnNamespace;
import ipmasq.netlink.nftables.Statement.Verdict;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What sets hold, also at a size that a node may well have. */
@KernelTest
@Tag("listing")
class SetElementsTest {
  private static final int MANY = 100_000;
  private static final int FROM = 0x0a000000;
  private static final Table TABLE = new Table(TableFamily.INET, "masq");
  private static final NftSet SET = NftSet.intervals(TABLE, "keep4", KeyType.IPV4_ADDR);

  private static int count(Nftables nftables) {
    int[] ranges = {0};
    assertEquals(
        Optional.empty(), nftables.elements(SET, element -> ranges[0] += element.end() ? 0 : 1));
    return ranges[0];
  }

  @Test
  void oneCommitAndThenOneMoreAndOneLess() throws Exception {
    OwnNamespace.run(
        () -> {
          try (Nftables nftables = Nftables.open()) {
            Batch batch = new Batch().add(TABLE).add(SET).add(SET, Addresses.many(MANY, FROM));
            assertEquals(new Commit.Committed(), nftables.commit(batch));
            nftables.commit(new Batch().add(SET, Addresses.ranges("9.0.0.0-9.255.255.255")));
            nftables.commit(new Batch().delete(SET, Addresses.ranges("10.0.0.32-10.0.0.47")));
            String get = "get element inet masq keep4 ";
            assertTrue(output("nft", get + "{ 9.1.2.3 }").contains("9.0.0.0/8"));
            assertThrows(IllegalStateException.class, () -> output("nft", get + "{ 10.0.0.33 }"));
            assertEquals(MANY, count(nftables));

            assertEquals(new Commit.Committed(), nftables.commit(new Batch().flush(SET)));
            assertEquals(0, count(nftables));
          }
        });
  }

  @Test
  void aListThatChangesWhileItIsRead() throws Exception {
    OwnNamespace.run(
        () -> {
          try (Nftables nftables = Nftables.open();
              Nftables other = Nftables.open()) {
            nftables.commit(new Batch().add(TABLE).add(SET).add(SET, Addresses.many(10_000, FROM)));
            int[] seen = {0};
            Optional<NetlinkFailure> failure =
                nftables.elements(
                    SET,
                    _ -> {
                      if (seen[0]++ == 10) {
                        other.commit(new Batch().add(SET, Addresses.ranges("9.0.0.0")));
                      }
                    });
            assertEquals(Optional.of(new NetlinkFailure.Interrupted()), failure);
            assertEquals(10_001, count(nftables));
          }
        });
  }

  @Test
  void elementsThatCount() throws Exception {
    OwnNamespace.run(
        () -> {
          try (Nftables nftables = Nftables.open()) {
            NftSet counted = SET.withCounters().commented("counts");
            nftables.commit(
                new Batch().add(TABLE).add(counted).add(counted, Addresses.ranges("10.0.0.1")));
            assertEquals(
                """
                table inet masq {
                	set keep4 {
                		type ipv4_addr
                		flags interval
                		counter
                		comment "counts"
                		elements = { 10.0.0.1 counter packets 0 bytes 0 }
                	}
                }
                """,
                output("nft", "list", "ruleset"));
            StringBuilder elements = new StringBuilder();
            nftables.elements(
                counted, it -> elements.append(it.key()).append(it.end()).append(it.counter()));
            assertEquals(
                "Optional[0x0a000002]trueCounter[packets=0, bytes=0]"
                    + "Optional[0x0a000001]falseCounter[packets=0, bytes=0]",
                elements.toString());
          }
        });
  }

  @Test
  void singleKeys() throws Exception {
    OwnNamespace.run(
        () -> {
          try (Nftables nftables = Nftables.open()) {
            NftSet keys = NftSet.keys(TABLE, "keys", KeyType.IPV6_ADDR);
            nftables.commit(
                new Batch().add(TABLE).add(keys).add(keys, Addresses.ranges("fd00::1", "fd00::2")));
            assertTrue(output("nft", "get element inet masq keys { fd00::2 }").contains("fd00::2"));
            nftables.commit(new Batch().delete(keys, Addresses.ranges("fd00::2")));
            int[] seen = {0};
            nftables.elements(keys, _ -> seen[0]++);
            assertEquals(1, seen[0]);
          }
        });
  }

  @Test
  void rangesThatTouchStayApart() throws Exception {
    OwnNamespace.run(
        () -> {
          try (Nftables nftables = Nftables.open()) {
            nftables.commit(new Batch().add(TABLE).add(SET));
            assertEquals(
                new Commit.Committed(),
                nftables.commit(
                    new Batch()
                        .add(
                            SET,
                            Addresses.ranges(
                                "0.0.0.0",
                                "10.0.0.0-10.255.255.255",
                                "11.0.0.0-11.255.255.255",
                                "12.0.0.0",
                                "12.0.0.1",
                                "224.0.0.0-239.255.255.255",
                                "240.0.0.0-255.255.255.255"))));
            assertEquals(
                List.of(
                    "240.0.0.0-255.255.255.255",
                    "224.0.0.0-239.255.255.255",
                    "12.0.0.1-12.0.0.1",
                    "12.0.0.0-12.0.0.0",
                    "11.0.0.0-11.255.255.255",
                    "10.0.0.0-10.255.255.255",
                    "0.0.0.0-0.0.0.0"),
                Addresses.in(nftables, SET));
            assertEquals(
                new Commit.Committed(),
                nftables.commit(
                    new Batch()
                        .delete(SET, Addresses.ranges("11.0.0.0-11.255.255.255", "12.0.0.0"))
                        .delete(SET, Addresses.ranges("240.0.0.0-255.255.255.255", "0.0.0.0"))));
            assertEquals(
                List.of(
                    "224.0.0.0-239.255.255.255", "12.0.0.1-12.0.0.1", "10.0.0.0-10.255.255.255"),
                Addresses.in(nftables, SET));
          }
        });
  }

  @Test
  void rangesThatNftMade() throws Exception {
    OwnNamespace.run(
        () -> {
          try (Nftables nftables = Nftables.open()) {
            output(
                "nft",
                "add table inet masq; add set inet masq keep4 { type ipv4_addr; flags interval; elements = { 10.0.0.0/8, 12.0.0.0/8, 250.0.0.0-255.255.255.255 } }");
            assertEquals(
                List.of(
                    "250.0.0.0-255.255.255.255",
                    "12.0.0.0-12.255.255.255",
                    "10.0.0.0-10.255.255.255"),
                Addresses.in(nftables, SET));
          }
        });
  }

  /** Sets, maps and concatenations, asked for the key of one packet. */
  @Test
  void oneKey() throws Exception {
    OwnNamespace.run(
        () -> {
          output(
              "nft",
              "table inet masq {"
                  + " set keys { type ipv4_addr; elements = { 10.0.0.1 }; };"
                  + " set nets { type ipv4_addr; flags interval;"
                  + "   elements = { 10.0.0.0/8, 192.0.2.1 }; };"
                  + " set pairs { type ipv4_addr . inet_service; elements = { 10.0.0.1 . 80 }; };"
                  + " set wide { type ipv4_addr . inet_service; flags interval;"
                  + "   elements = { 10.0.0.0/8 . 80-90 }; };"
                  + " map marks { type ipv4_addr : mark; flags interval;"
                  + "   elements = { 10.0.0.0/8 : 0x4000 }; };"
                  + " chain c {};"
                  + " map ways { type ipv4_addr : verdict;"
                  + "   elements = { 10.0.0.1 : jump c, * : drop }; }; }");
          try (Nftables nftables = Nftables.open()) {
            assertEquals("in", found(nftables, "keys", "0a000001"));
            assertEquals("", found(nftables, "keys", "0a000002"));
            assertEquals("in", found(nftables, "nets", "0a010203"));
            assertEquals("in", found(nftables, "nets", "c0000201"));
            assertEquals("", found(nftables, "nets", "c0000202"));
            assertEquals("", found(nftables, "nets", "09ffffff"));
            assertEquals("in", found(nftables, "pairs", "0a00000100500000"));
            assertEquals("", found(nftables, "pairs", "0a00000100510000"));
            assertEquals("in", found(nftables, "wide", "0a01020300550000"));
            assertEquals("", found(nftables, "wide", "0a010203005b0000"));
            assertEquals("0x00400000", found(nftables, "marks", "0a010203"));
            assertEquals("", found(nftables, "marks", "0b010203"));
            assertEquals("jump c", found(nftables, "ways", "0a000001"));
            assertEquals("drop", found(nftables, "ways", "0a000002"));
          }
        });
  }

  private static String found(Nftables nftables, String set, String key) {
    NftSet named = NftSet.keys(TABLE, set, KeyType.IPV4_ADDR);
    if (nftables.element(named, HexFormat.of().parseHex(key))
        instanceof Answer.Given<Optional<Element>>(var element)) {
      return element
          .map(
              it ->
                  it.verdict()
                      .map(Verdict::toString)
                      .orElse(it.data().map(Data::toString).orElse("in")))
          .orElse("");
    }
    throw new AssertionError(set + " " + key);
  }
}
