package ipmasq.bench;

import ipmasq.netlink.Answer;
import ipmasq.netlink.Data;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.nftables.Batch;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.Commit;
import ipmasq.netlink.nftables.Element;
import ipmasq.netlink.nftables.KeyType;
import ipmasq.netlink.nftables.NftSet;
import ipmasq.netlink.nftables.Nftables;
import ipmasq.netlink.nftables.Rule;
import ipmasq.netlink.nftables.Table;
import ipmasq.netlink.nftables.TableFamily;
import ipmasq.testkit.Namespace;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What a node's kernel holds, asked for in less time than a process takes to start. Used by one
 * thread.
 */
final class KernelView implements AutoCloseable {
  private static final long SHORTEST_PAUSE_NANOS = 300_000;

  /** Who has waited for a minute need not ask three times a millisecond. */
  private static final int PRECISION = 1_000;

  private static final int BATCH = 50_000;
  private static final int NEIGHBOURS_ADDRESSES = 100 << 24 | 64 << 16;
  private static final Table NAT = new Table(TableFamily.IP, "nat");
  private static final Chain MAIN = new Chain(NAT, "IP-MASQ-AGENT");
  private static final Chain POSTROUTING = new Chain(NAT, "POSTROUTING");
  private static final Table OWN = new Table(TableFamily.INET, "ip-masq-agent");
  private static final Chain HOOKED = new Chain(OWN, "postrouting4");
  private static final NftSet EXEMPT = NftSet.intervals(OWN, "exempt4", KeyType.IPV4_ADDR);

  private final Nftables nftables;

  KernelView(Namespace node) {
    try {
      nftables = node.call(Nftables::open);
    } catch (NetlinkUnavailable e) {
      throw new IllegalStateException(e);
    }
  }

  /** Whether so many ranges of the file, and all that belongs to them, are in force. */
  boolean holds(Contender.Kind kind, int ranges) {
    return switch (kind) {
      // Link-local before them, masquerade after.
      case IPTABLES -> rules(MAIN) == ranges + 2 && rules(POSTROUTING) > 0;
      case NFTABLES -> elements() == ranges + 1 && rules(HOOKED) > 0;
    };
  }

  private int rules(Chain chain) {
    return list(chain).size();
  }

  private List<Rule> list(Chain chain) {
    return switch (nftables.rules(chain)) {
      case Answer.Given<List<Rule>>(var rules) -> rules;
      case Answer.Failed<List<Rule>> _ -> List.of();
    };
  }

  /** What POSTROUTING holds. */
  Set<Long> jumps() {
    return list(POSTROUTING).stream().map(Rule::handle).collect(Collectors.toSet());
  }

  /** Removes what an agent has made in iptables since POSTROUTING held these jumps. */
  void undo(Set<Long> jumps) {
    Batch batch = new Batch();
    list(POSTROUTING).stream().filter(r -> !jumps.contains(r.handle())).forEach(batch::delete);
    commit(batch.delete(MAIN));
  }

  private Optional<Integer> generation() {
    return switch (nftables.generation()) {
      case Answer.Given<Integer>(var generation) -> Optional.of(generation);
      case Answer.Failed<Integer> _ -> Optional.empty();
    };
  }

  private int elements() {
    int[] count = {0};
    nftables.elements(EXEMPT, element -> count[0] += element.end() ? 0 : 1);
    return count[0];
  }

  /** Milliseconds from a moment until so many ranges are in force. */
  double await(long since, Contender.Kind kind, int ranges, Duration atMost) {
    long start = System.nanoTime();
    long end = start + atMost.toNanos();
    Optional<Integer> seen = Optional.empty();
    while (true) {
      // Who lists a long set keeps others from changing it: only after somebody did.
      Optional<Integer> now = generation();
      if (now.isEmpty() || !now.equals(seen)) {
        seen = now;
        if (holds(kind, ranges)) {
          break;
        }
      }
      long asked = System.nanoTime();
      if (asked > end) {
        throw new IllegalStateException(ranges + " ranges were not in force within " + atMost);
      }
      LockSupport.parkNanos(Math.max(SHORTEST_PAUSE_NANOS, (asked - start) / PRECISION));
    }
    return (System.nanoTime() - since) / 1e6;
  }

  /** Does what {@code iptables -t nat -F IP-MASQ-AGENT} does. */
  void flush() {
    commit(new Batch().flush(MAIN));
  }

  /** Adds addresses from 100.64.0.0 on to a set of a neighbour's that exists. */
  void fill(NftSet set, int elements) {
    for (int from = 0; from < elements; from += BATCH) {
      commit(
          new Batch()
              .add(
                  set,
                  IntStream.range(from, Math.min(elements, from + BATCH))
                      .mapToObj(i -> Data.u32(NEIGHBOURS_ADDRESSES + i).bytes())
                      .map(key -> new Element.Range(key, key))
                      .iterator()));
    }
  }

  private void commit(Batch batch) {
    Commit commit = nftables.commit(batch);
    if (!(commit instanceof Commit.Committed)) {
      throw new IllegalStateException(commit.toString());
    }
  }

  @Override
  public void close() {
    nftables.close();
  }
}
