package ipmasq.backend.nftables;

import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.netlink.Answer;
import ipmasq.netlink.NetlinkFailure;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.nftables.Batch;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.Commit;
import ipmasq.netlink.nftables.ElementVisitor;
import ipmasq.netlink.nftables.Generation;
import ipmasq.netlink.nftables.NftSet;
import ipmasq.netlink.nftables.Nftables;
import ipmasq.netlink.nftables.Table;
import ipmasq.policy.Policy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Our questions to nf_tables. The socket opens at the first, and stays: it is what owns a table.
 */
final class Kernel implements AutoCloseable {
  /** A ruleset that changes while it is read is read again this often. */
  private static final int ATTEMPTS = 5;

  private @Nullable Nftables nftables;

  private Nftables nftables() throws Unanswered {
    Nftables open = nftables;
    if (open == null) {
      try {
        open = Nftables.open();
      } catch (NetlinkUnavailable unavailable) {
        throw new Unanswered(unavailable);
      }
      nftables = open;
    }
    return open;
  }

  int port() throws Unanswered {
    return nftables().port();
  }

  Commit commit(Batch batch) throws Unanswered {
    return batch.isEmpty() ? new Commit.Committed() : nftables().commit(batch);
  }

  Generation generation() throws Unanswered {
    return given("generation", nftables().generation());
  }

  Optional<Table> table() throws Unanswered {
    return given("table", nftables().find(Names.TABLE));
  }

  Optional<Table> find(Table table) throws Unanswered {
    return given("table", nftables().find(table));
  }

  boolean has(Table table) throws Unanswered {
    return find(table).isPresent();
  }

  /** What a chain's rules say, without what they counted; the same where there is no such chain. */
  String digest(Chain chain) throws Unanswered {
    return given("rules", nftables().digest(chain));
  }

  /**
   * What is there of ours, all of one moment. Content that is known need not be read again while
   * nobody else can have changed it.
   */
  Held held(Family family, Known known) throws Unanswered {
    Unanswered last = new Unanswered("our table", new NetlinkFailure.Interrupted());
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        Generation before = generation();
        Held held = read(family, known, before);
        if (before.equals(generation())) {
          known.seen(held, before);
          return held;
        }
      } catch (Unanswered unanswered) {
        if (!unanswered.passing()) {
          throw unanswered;
        }
        last = unanswered;
      }
    }
    throw last;
  }

  private Held read(Family family, Known known, Generation generation) throws Unanswered {
    Optional<Table> table = table();
    if (table.isEmpty()) {
      return Held.nothing(family);
    }
    List<Hooked> chains = new ArrayList<>();
    for (Chain ours : List.of(Names.chain(family), Names.pin(family))) {
      Optional<Chain> chain = given("chain", nftables().find(ours));
      if (chain.isPresent()) {
        chains.add(new Hooked(chain.get(), given("rules", nftables().rules(chain.get()))));
      }
    }
    Optional<NftSet> exempt = given("set", nftables().find(Names.exempt(family)));
    Optional<NftSet> areas = given("set", nftables().find(Names.areas(family)));
    Optional<NftSet> sources = given("set", nftables().find(Names.sources(family)));
    if (isForeign(exempt, Names.exempt(family))
        || isForeign(areas, Names.areas(family))
        || isForeign(sources, Names.sources(family))) {
      return Held.foreign(family, table.get(), chains);
    }
    boolean trusted = known.isStill(table.get(), port(), generation);
    return assemble(
        family,
        table.get(),
        content(exempt, trusted ? known.exempt() : Optional.empty()),
        areas(areas),
        content(sources, trusted ? known.sources() : Optional.empty()),
        chains);
  }

  private static boolean isForeign(Optional<NftSet> found, NftSet ours) {
    return found.isPresent()
        && !(found.get().key().equals(ours.key()) && found.get().flags().equals(ours.flags()));
  }

  private static Held assemble(
      Family family,
      Table table,
      Optional<Content> exempt,
      Optional<Content> areas,
      Optional<Content> sources,
      List<Hooked> chains) {
    List<String> flaws = new ArrayList<>();
    Optional<Policy> policy =
        exempt
            .filter(content -> areas.equals(Optional.of(Areas.of(content))))
            .flatMap(
                content ->
                    Decoder.policy(
                        family,
                        chains,
                        content.blocks(),
                        sources.<List<Cidr>>map(Content::blocks).orElse(List.of())));
    if (policy.isEmpty() && (!chains.isEmpty() || exempt.isPresent())) {
      flaws.add("our chains, their rules or sets are not as they should be");
    }
    if (policy.isPresent() && table.flags().contains(Table.Flag.DORMANT)) {
      flaws.add("the table is dormant");
    }
    return new Held(
        family, Optional.of(table), exempt, areas, sources, chains, false, policy, flaws);
  }

  private Optional<Content> content(Optional<NftSet> set, Optional<Content> known)
      throws Unanswered {
    if (set.isEmpty() || known.isPresent()) {
      return set.isEmpty() ? Optional.empty() : known;
    }
    ContentReader reader = new ContentReader(set.get());
    elements(set.get(), reader);
    return Optional.of(reader.content());
  }

  private Optional<Content> areas(Optional<NftSet> set) throws Unanswered {
    if (set.isEmpty()) {
      return Optional.empty();
    }
    Areas areas = new Areas();
    elements(set.get(), areas);
    return Optional.of(areas.content());
  }

  private void elements(NftSet set, ElementVisitor visitor) throws Unanswered {
    Optional<NetlinkFailure> failure = nftables().elements(set, visitor);
    if (failure.isPresent()) {
      throw new Unanswered("elements of " + set, failure.get());
    }
  }

  /** Whether the table holds nothing of the other family. */
  boolean holdsOnly(Family family) throws Unanswered {
    for (Family other : Family.values()) {
      if (other != family
          && (given("chain", nftables().find(Names.chain(other))).isPresent()
              || given("set", nftables().find(Names.exempt(other))).isPresent())) {
        return false;
      }
    }
    return true;
  }

  private static <T> T given(String question, Answer<T> answer) throws Unanswered {
    return switch (answer) {
      case Answer.Given<T>(var value) -> value;
      case Answer.Failed<T>(var failure) -> throw new Unanswered(question, failure);
    };
  }

  @Override
  public void close() {
    if (nftables != null) {
      nftables.close();
    }
  }
}
