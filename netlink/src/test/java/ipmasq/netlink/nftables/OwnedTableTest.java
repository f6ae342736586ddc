package ipmasq.netlink.nftables;

import static ipmasq.netlink.OwnNamespace.output;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.netlink.Answer;
import ipmasq.netlink.Errno;
import ipmasq.netlink.KernelTest;
import ipmasq.netlink.OwnNamespace;
import ipmasq.netlink.nftables.Statement.Verdict;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tables that nobody else can touch. */
@KernelTest
@Tag("listing")
class OwnedTableTest {
  private static final Table TABLE =
      new Table(TableFamily.INET, "masq").with(Table.Flag.OWNER, Table.Flag.PERSIST);
  private static final Chain CHAIN = new Chain(TABLE, "post", "nat", Hook.POSTROUTING, 90);

  private static Table found(Nftables nftables) {
    return nftables.find(TABLE) instanceof Answer.Given<Optional<Table>>(var table)
        ? table.orElseThrow()
        : null;
  }

  @Test
  void othersCannotTouchIt() throws Exception {
    OwnNamespace.run(
        () -> {
          try (Nftables ours = Nftables.open();
              Nftables other = Nftables.open()) {
            assertEquals(new Commit.Committed(), ours.commit(new Batch().add(TABLE).add(CHAIN)));
            output("nft", "flush ruleset");
            assertThrows(
                IllegalStateException.class, () -> output("nft", "delete table inet masq"));
            Commit refused = other.commit(new Batch().add(new Rule(CHAIN, Verdict.ACCEPT)));
            assertEquals(Errno.EPERM, assertInstanceOf(Commit.Rejected.class, refused).errno());
            Commit adopted = other.commit(new Batch().add(TABLE));
            assertEquals(Errno.EPERM, assertInstanceOf(Commit.Rejected.class, adopted).errno());

            assertEquals(ours.port(), found(other).owner());
            assertEquals(Set.of(Table.Flag.OWNER, Table.Flag.PERSIST), found(other).flags());
            assertEquals(
                new Commit.Committed(),
                ours.commit(new Batch().add(new Rule(CHAIN, Verdict.ACCEPT))));
            assertTrue(output("nft", "list", "chain", "inet", "masq", "post").contains("accept"));
          }
        });
  }

  @Test
  void itOutlivesItsOwnerAndIsAdopted() throws Exception {
    OwnNamespace.run(
        () -> {
          try (Nftables first = Nftables.open()) {
            first.commit(new Batch().add(TABLE).add(CHAIN).add(new Rule(CHAIN, Verdict.ACCEPT)));
          }
          try (Nftables next = Nftables.open()) {
            assertEquals(0, found(next).owner());
            assertTrue(output("nft", "list", "chain", "inet", "masq", "post").contains("accept"));
            assertEquals(new Commit.Committed(), next.commit(new Batch().add(TABLE)));
            assertEquals(next.port(), found(next).owner());
            assertThrows(
                IllegalStateException.class, () -> output("nft", "delete table inet masq"));
            assertEquals(new Commit.Committed(), next.commit(new Batch().delete(TABLE)));
          }
        });
  }

  @Test
  void withoutPersistItGoesWithItsOwner() throws Exception {
    OwnNamespace.run(
        () -> {
          try (Nftables first = Nftables.open()) {
            first.commit(new Batch().add(TABLE.with(Table.Flag.OWNER)));
            assertTrue(output("nft", "list", "ruleset").contains("table inet masq"));
          }
          assertEquals("", output("nft", "list", "ruleset"));
        });
  }
}
