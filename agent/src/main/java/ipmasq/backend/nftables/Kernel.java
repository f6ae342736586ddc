package ipmasq.backend.nftables;

import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.netlink.Answer;
import ipmasq.netlink.Errno;
import ipmasq.netlink.NetlinkFailure;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.nftables.Batch;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.Commit;
import ipmasq.netlink.nftables.Generation;
import ipmasq.netlink.nftables.NftSet;
import ipmasq.netlink.nftables.Nftables;
import ipmasq.netlink.nftables.Rule;
import ipmasq.netlink.nftables.Table;
import ipmasq.policy.Policy;
import java.util.ArrayList;
import java.util.Collections;
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

  boolean has(Table table) throws Unanswered {
    return given("table", nftables().find(table)).isPresent();
  }

  /** The numbers of a chain's rules, in order; none where there is no such chain. */
  List<Long> handles(Chain chain) throws Unanswered {
    List<Long> handles = new ArrayList<>();
    switch (nftables().rules(chain)) {
      case Answer.Given<List<Rule>>(var rules) -> rules.forEach(rule -> handles.add(rule.handle()));
      case Answer.Failed<List<Rule>>(NetlinkFailure.Refused(var refusal))
          when refusal.errno().equals(Errno.ENOENT) -> {}
      case Answer.Failed<List<Rule>>(var failure) -> throw new Unanswered("rules", failure);
    }
    return handles;
  }

  /** What is there of ours, all of one moment. */
  Held held(Family family) throws Unanswered {
    Unanswered last = new Unanswered("our table", new NetlinkFailure.Interrupted());
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        Generation before = generation();
        Held held = read(family);
        if (before.equals(generation())) {
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

  private Held read(Family family) throws Unanswered {
    Optional<Table> table = table();
    if (table.isEmpty()) {
      return Held.nothing(family);
    }
    Optional<Chain> chain = given("chain", nftables().find(Names.chain(family)));
    Optional<List<IpRange>> exempt = ranges(Names.exempt(family));
    Optional<List<IpRange>> sources = ranges(Names.sources(family));
    List<Rule> rules =
        chain.isPresent() ? given("rules", nftables().rules(chain.get())) : List.of();
    return assemble(family, table.get(), exempt, sources, chain, rules);
  }

  private static Held assemble(
      Family family,
      Table table,
      Optional<List<IpRange>> exempt,
      Optional<List<IpRange>> sources,
      Optional<Chain> chain,
      List<Rule> rules) {
    List<String> flaws = new ArrayList<>();
    Optional<Policy> policy = Optional.empty();
    if (chain.isPresent() || exempt.isPresent()) {
      boolean hooked = chain.isPresent() && chain.get().base().equals(Names.chain(family).base());
      if (hooked && exempt.isPresent()) {
        policy = Decoder.policy(family, rules, exempt.get(), sources.orElse(List.of()));
      }
      if (policy.isEmpty()) {
        flaws.add("our chain, its rules or its set are not as they should be");
      }
      if (table.flags().contains(Table.Flag.DORMANT)) {
        flaws.add("the table is dormant");
      }
    }
    return new Held(family, Optional.of(table), exempt, sources, chain, rules, policy, flaws);
  }

  /** The elements of a set, in order; empty where there is no such set. */
  private Optional<List<IpRange>> ranges(NftSet set) throws Unanswered {
    if (given("set", nftables().find(set)).isEmpty()) {
      return Optional.empty();
    }
    List<IpRange> ranges = new ArrayList<>();
    Optional<NetlinkFailure> failure =
        nftables()
            .ranges(
                set, (first, last) -> ranges.add(new IpRange(Ip.ofBytes(first), Ip.ofBytes(last))));
    if (failure.isPresent()) {
      throw new Unanswered("elements of " + set, failure.get());
    }
    Collections.reverse(ranges);
    return Optional.of(ranges);
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
