package ipmasq.backend.nftables;

import ipmasq.backend.Watch;
import ipmasq.net.Family;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.Table;
import ipmasq.netlink.nftables.TableFamily;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Watches the parts of nf_tables that concern us, with a few queries and no child process. Used by
 * one thread.
 *
 * <p>The kernel has a generation number for its ruleset: while it stays the same, nothing has
 * changed. Otherwise the parts that concern us are read: for iptables the nat table's handle and
 * flags, and the rules of our chains and of POSTROUTING without their counters. Rule handles would
 * not do: they restart in a recreated table, and stay when a rule is replaced.
 */
public final class RulesWatch implements Watch, AutoCloseable {
  /** Reads a fingerprint of the rules; equal if the rules are. */
  private interface Digest {
    Object read(NftablesClient kernel, Integer generation) throws QueryFailed;
  }

  private final NftablesClient kernel = new NftablesClient();
  private final Digest reading;
  private @Nullable Integer seen;
  private Optional<Object> fingerprint = Optional.empty();

  private RulesWatch(Digest reading) {
    this.reading = reading;
  }

  /**
   * Watches the rules of iptables-nft in chains of these names, and whether our table or
   * kube-proxy's exists.
   */
  public static RulesWatch ofIptables(List<Family> families, List<String> chains) {
    return new RulesWatch(
        (kernel, _) -> {
          List<Object> all = new ArrayList<>();
          for (Family family : families) {
            Table nat = nat(family);
            Optional<Table> found = kernel.find(nat);
            all.add(found.map(Table::handle));
            all.add(found.map(Table::flags));
            all.add(kernel.digest(new Chain(nat, "POSTROUTING")));
            for (String chain : chains) {
              all.add(kernel.digest(new Chain(nat, chain)));
            }
          }
          all.add(kernel.table().isPresent());
          all.add(kernel.hasKubeProxy());
          return all;
        });
  }

  /**
   * Watches our own table, and chains of these names that an iptables may hold. While the table has
   * an owner, no other process can change its content.
   */
  public static RulesWatch ofOwnTable(List<String> chains) {
    return new RulesWatch(
        (kernel, generation) -> {
          Optional<Table> table = kernel.table();
          if (table.isEmpty() || table.get().owner() == 0) {
            return generation;
          }
          List<Object> all = new ArrayList<>(List.of(table.get()));
          for (Family family : Family.values()) {
            for (String chain : chains) {
              all.add(kernel.digest(new Chain(nat(family), chain)));
            }
          }
          return all;
        });
  }

  private static Table nat(Family family) {
    return new Table(family == Family.IPV4 ? TableFamily.IP : TableFamily.IP6, "nat");
  }

  @Override
  public Optional<Object> fingerprint() {
    return read(false);
  }

  @Override
  public Optional<Object> freshFingerprint() {
    return read(true);
  }

  private Optional<Object> read(boolean anew) {
    try {
      Integer now = kernel.generation();
      if (anew || !now.equals(seen)) {
        fingerprint = Optional.of(reading.read(kernel, now));
        seen = now;
      }
      return fingerprint;
    } catch (QueryFailed cannotTell) {
      seen = null;
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    kernel.close();
  }
}
