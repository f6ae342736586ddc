package ipmasq.hook.nftables;

import ipmasq.net.Family;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.Nftables.TableUse;
import ipmasq.netlink.nftables.Table;
import ipmasq.netlink.nftables.TableFamily;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A cache of the base chains of all tables. Used by one thread.
 *
 * <p>The kernel lists them only together with all other chains, of which kube-proxy has tens of
 * thousands. Where that takes long, they are listed again only when a table appears, disappears or
 * changes size, and now and then. Tables with services change size all the time, which does not
 * count.
 */
public final class BaseChains {
  private static final long OLD_NANOS = Duration.ofSeconds(30).toNanos();
  private static final long LONG_NANOS = Duration.ofMillis(5).toNanos();

  /**
   * What there is.
   *
   * @param tables all tables
   */
  record BaseListing(List<Chain> chains, List<Table> tables) {}

  private List<Chain> chains = List.of();
  private List<Object> seen = List.of();
  private long listedAt;
  private long tookNanos;
  private boolean listed;
  private boolean fromCache;

  /** Empty if the kernel does not answer. */
  Optional<BaseListing> list(RulesetReader kernel) {
    Optional<List<TableUse>> uses = kernel.ask(nftables -> nftables.tableUses());
    if (uses.isEmpty()) {
      return Optional.empty();
    }
    List<Object> now = new ArrayList<>();
    for (TableUse use : uses.get()) {
      now.add(ofServices(use.table()) ? use.table() : use);
    }
    long start = System.nanoTime();
    boolean old = tookNanos < LONG_NANOS || start - listedAt > OLD_NANOS;
    fromCache = listed && !old && now.equals(seen);
    if (!fromCache) {
      Optional<List<Chain>> all = kernel.ask(nftables -> nftables.baseChains());
      if (all.isEmpty()) {
        return Optional.empty();
      }
      chains = all.get();
      seen = now;
      listed = true;
      listedAt = System.nanoTime();
      tookNanos = listedAt - start;
    } else {
      iptables(kernel);
    }
    return Optional.of(new BaseListing(chains, uses.get().stream().map(TableUse::table).toList()));
  }

  /** Whether the last list may have missed a base chain. */
  public boolean isFromCache() {
    return fromCache;
  }

  private static boolean ofServices(Table table) {
    return (table.family() == TableFamily.IP || table.family() == TableFamily.IP6)
        && (table.name().equals("kube-proxy") || table.name().equals("nat"));
  }

  /** iptables makes its base chains one by one, when they are needed. */
  private void iptables(RulesetReader kernel) {
    for (Family family : Family.values()) {
      Table nat = new Table(family == Family.IPV4 ? TableFamily.IP : TableFamily.IP6, "nat");
      boolean known =
          chains.stream()
              .anyMatch(c -> c.family() == nat.family() && c.name().equals("POSTROUTING"));
      if (!known) {
        Chain wanted = new Chain(nat, "POSTROUTING");
        kernel
            .ask(nftables -> nftables.find(wanted))
            .flatMap(found -> found)
            .filter(found -> found.base().isPresent())
            .ifPresent(
                found -> {
                  List<Chain> more = new ArrayList<>(chains);
                  more.add(found);
                  chains = List.copyOf(more);
                });
      }
    }
  }
}
