package ipmasq.backend.iptables;

import ipmasq.backend.Watch;
import ipmasq.iptables.LegacyTables;
import ipmasq.net.Family;
import ipmasq.netlink.Answer;
import ipmasq.netlink.LegacyTable;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Watches the rules of iptables-legacy that packets meet at nat postrouting, with a system call or
 * two and no child process. Used by one thread.
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

  /** Between reads for a table where there was none. */
  private static final Duration ABSENT = Duration.ofSeconds(4);

  private static final Optional<Object> NO_TABLE = Optional.of("none");

  private final List<TableWatch> tables =
      List.of(
          new TableWatch(Family.IPV4, LegacyTable.Ip.IPV4),
          new TableWatch(Family.IPV6, LegacyTable.Ip.IPV6));

  /** Nothing is read yet. */
  public LegacyWatch() {}

  /** Of both families; empty if one cannot be read. */
  @Override
  public Optional<Object> fingerprint() {
    return both(false);
  }

  @Override
  public Optional<Object> freshFingerprint() {
    return both(true);
  }

  private Optional<Object> both(boolean fresh) {
    List<Optional<Object>> read = tables.stream().map(each -> each.read(fresh)).toList();
    return read.stream().allMatch(Optional::isPresent) ? Optional.of(read) : Optional.empty();
  }

  /** The nat table of a family. */
  private static final class TableWatch {
    private final Family family;
    private final LegacyTable table;
    private Optional<Object> last = Optional.empty();
    private LegacyTable.@Nullable Shape shape;
    private long readAt;

    TableWatch(Family family, LegacyTable.Ip ip) {
      this.family = family;
      this.table = new LegacyTable(ip, "nat");
    }

    Optional<Object> read(boolean fresh) {
      long now = System.nanoTime();
      if (fresh || !last.equals(NO_TABLE) || now - readAt >= ABSENT.toNanos()) {
        readAt = now;
        last =
            switch (LegacyTables.ofKernel().look(family, table.name())) {
              case THERE -> digest(fresh);
              case NOT_THERE -> NO_TABLE; // and asking would create it
              case UNKNOWN -> Optional.empty();
            };
      }
      return last;
    }

    private Optional<Object> digest(boolean fresh) {
      if (!(table.shape() instanceof Answer.Given<LegacyTable.Shape>(var now))
          || now.size() > MOST) {
        return Optional.empty();
      }
      if (!fresh && now.size() > SMALL && now.equals(shape) && last.isPresent()) {
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
