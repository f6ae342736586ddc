package ipmasq.backend.nftables;

import ipmasq.netlink.nftables.Generation;
import ipmasq.netlink.nftables.Table;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The content of one family's sets as it was last read or written. Used by one thread.
 *
 * <p>Listing a hundred thousand ranges takes the kernel as long as loading them, so they are listed
 * only when needed: while our socket owns the table nobody else can change it, and while the
 * generation stays the same nobody has. Small sets are read each time, with their counters.
 */
final class SetContentCache {
  private long table;
  private @Nullable Generation generation;
  private Optional<SetContent> exempt = Optional.empty();
  private Optional<SetContent> sources = Optional.empty();

  /** Whether the cached content of this table is still valid. */
  boolean isStill(Table found, int port, Generation now) {
    boolean ours = found.owner() != 0 && found.owner() == port;
    return found.handle() == table && (ours || now.equals(generation));
  }

  Optional<SetContent> exempt() {
    return exempt;
  }

  Optional<SetContent> sources() {
    return sources;
  }

  /** All of it was read at this moment. */
  void seen(NftablesObserved observed, Generation at) {
    table = observed.table().map(Table::handle).orElse(0L);
    generation = at;
    exempt = observed.exempt().filter(SetContentCache::isLarge);
    sources = observed.sources().filter(SetContentCache::isLarge);
  }

  /** This was written, and the kernel took it. */
  void written(Table into, SetContent newExempt, SetContent newSources) {
    table = into.handle();
    generation = null;
    exempt = Optional.of(newExempt).filter(SetContentCache::isLarge);
    sources = Optional.of(newSources).filter(SetContentCache::isLarge);
  }

  /** Drops the cached content. */
  void forget() {
    table = 0;
    generation = null;
    exempt = Optional.empty();
    sources = Optional.empty();
  }

  private static boolean isLarge(SetContent content) {
    return content.blocks().size() > TableUpdate.COUNTED;
  }
}
