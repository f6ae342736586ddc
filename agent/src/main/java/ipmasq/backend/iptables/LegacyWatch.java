package ipmasq.backend.iptables;

import ipmasq.backend.Watch;
import ipmasq.iptables.LegacyTables;
import ipmasq.net.Family;
import ipmasq.netlink.Answer;
import ipmasq.netlink.xtables.LegacyTable;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Watches rules of iptables-legacy with a system call or two and no child process: those that
 * packets meet at nat postrouting, and all of the raw table. Used by one thread.
 *
 * <p>The kernel has no generation for these tables. It tells the shape of one in microseconds;
 * reading 50,000 rules takes it 40 ms. So a large table is read only if its shape has changed: then
 * a rule replaced by one of the same size shows with {@link #freshFingerprint}, at the resync. A
 * small table is read each time.
 */
public final class LegacyWatch implements Watch {
  private static final int SMALL = 128 << 10;

  /** Beyond this the memory is worth more than the news: nothing is known. */
  private static final int MOST = 32 << 20;

  /** Between looks for a table where there was none. */
  private static final Duration ABSENT = Duration.ofSeconds(4);

  private static final Optional<Object> NO_TABLE = Optional.of("none");

  private final LegacyTables tables;
  private final Map<Family, TableWatch> nat = new EnumMap<>(Family.class);
  private final Map<Family, TableWatch> raw = new EnumMap<>(Family.class);

  LegacyWatch(LegacyTables tables) {
    this.tables = tables;
    for (Family family : Family.values()) {
      LegacyTable.Ip ip = family == Family.IPV4 ? LegacyTable.Ip.IPV4 : LegacyTable.Ip.IPV6;
      nat.put(family, new TableWatch(family, LegacyTable.nat(ip)));
      raw.put(family, new TableWatch(family, LegacyTable.raw(ip)));
    }
  }

  /** The kernel's tables. */
  public static LegacyWatch ofKernel() {
    return new LegacyWatch(LegacyTables.ofKernel());
  }

  /** Of the nat tables of both families; empty if one cannot be read. */
  @Override
  public Optional<Object> fingerprint() {
    return both(nat, false);
  }

  @Override
  public Optional<Object> freshFingerprint() {
    return both(nat, true);
  }

  /** Of the raw tables of both families; empty if one cannot be read. */
  public Optional<Object> rawFingerprint() {
    return both(raw, false);
  }

  private static Optional<Object> both(Map<Family, TableWatch> tables, boolean anew) {
    List<Optional<Object>> read = tables.values().stream().map(each -> each.read(anew)).toList();
    return read.stream().allMatch(Optional::isPresent) ? Optional.of(read) : Optional.empty();
  }

  /** One table. */
  private final class TableWatch {
    private final Family family;
    private final LegacyTable table;
    private Optional<Object> last = Optional.empty();
    private LegacyTable.@Nullable Shape shape;
    private long readAt;

    TableWatch(Family family, LegacyTable table) {
      this.family = family;
      this.table = table;
    }

    Optional<Object> read(boolean anew) {
      long now = System.nanoTime();
      if (anew || !last.equals(NO_TABLE) || now - readAt >= ABSENT.toNanos()) {
        readAt = now;
        last =
            switch (tables.look(family, table.name())) {
              case THERE -> digest(anew);
              case NOT_THERE -> NO_TABLE; // and asking would create it
              case UNKNOWN -> Optional.empty();
            };
      }
      return last;
    }

    private Optional<Object> digest(boolean anew) {
      if (!(table.shape() instanceof Answer.Given<LegacyTable.Shape>(var now))
          || now.size() > MOST) {
        return Optional.empty();
      }
      if (!anew && now.size() > SMALL && now.equals(shape) && last.isPresent()) {
        return last;
      }
      shape = now;
      // If it fails, the table changed meanwhile, most likely: next time.
      return table.digest(now) instanceof Answer.Given<Long>(var rules)
          ? Optional.of(rules)
          : Optional.empty();
    }
  }
}
