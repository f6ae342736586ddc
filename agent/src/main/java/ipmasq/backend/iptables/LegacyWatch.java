package ipmasq.backend.iptables;

import ipmasq.backend.Watch;
import ipmasq.iptables.LegacyTables;
import ipmasq.net.Family;
import ipmasq.netlink.Answer;
import ipmasq.netlink.xtables.LegacyNat;
import ipmasq.netlink.xtables.TableShape;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Watches the rules of iptables-legacy that packets at nat postrouting meet, with a system call or
 * two and no child process. Used by one thread.
 *
 * <p>The kernel has no generation for these tables. It tells the shape of one at once, and a large
 * table is read only if that has changed: then a rule replaced by one of the same size shows with
 * {@link #freshFingerprint}, that is, at the resync. A small table is read each time. Where there
 * is no table, one is looked for every few seconds.
 */
public final class LegacyWatch implements Watch {
  private static final int SMALL = 128 << 10;

  /** Beyond this the memory is worth more than the news: nothing is known. */
  private static final int MOST = 32 << 20;

  /** Reading a large table that changes all the time takes at most this share of the time. */
  private static final int SHARE = 20;

  /** Between looks for a table where there was none. */
  private static final Duration ABSENT = Duration.ofSeconds(4);

  private static final List<Object> NO_TABLES = List.of("", "");

  private final LegacyTables tables;
  private final NatWatch ipv4 = new NatWatch(LegacyNat.IPV4);
  private final NatWatch ipv6 = new NatWatch(LegacyNat.IPV6);
  private Optional<Object> last = Optional.empty();
  private long lookedAt;

  LegacyWatch(LegacyTables tables) {
    this.tables = tables;
  }

  /** The kernel's tables. */
  public static LegacyWatch ofKernel() {
    return new LegacyWatch(LegacyTables.ofKernel());
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
    long now = System.nanoTime();
    boolean absent = last.equals(Optional.of(NO_TABLES)) && now - lookedAt < ABSENT.toNanos();
    if (anew || !absent) {
      last = read4And6(anew);
      lookedAt = now;
    }
    return last;
  }

  private Optional<Object> read4And6(boolean anew) {
    List<Object> all = new ArrayList<>();
    for (Family family : Family.values()) {
      LegacyTables.Presence presence = tables.look(family, "nat");
      NatWatch nat = family == Family.IPV4 ? ipv4 : ipv6;
      Optional<String> rules =
          switch (presence) {
            case THERE -> nat.read(anew);
            case NOT_THERE -> Optional.of(""); // and asking would create it
            case UNKNOWN -> Optional.empty();
          };
      if (rules.isEmpty()) {
        return Optional.empty();
      }
      all.add(rules.get());
    }
    return Optional.of(all);
  }

  /** One family's table. */
  private static final class NatWatch {
    private final LegacyNat nat;
    private @Nullable TableShape shape;
    private String digest = "";
    private long readAt;
    private long took;

    NatWatch(LegacyNat nat) {
      this.nat = nat;
    }

    Optional<String> read(boolean anew) {
      if (!(nat.shape() instanceof Answer.Given<TableShape>(var now)) || now.size() > MOST) {
        return Optional.empty();
      }
      boolean known = now.equals(shape) && now.size() > SMALL;
      long start = System.nanoTime();
      boolean rests = shape != null && start - readAt < took * SHARE;
      if (anew || !known && !rests) {
        if (!(nat.postrouting(now) instanceof Answer.Given<String>(var read))) {
          shape = null; // it changed meanwhile, most likely: next time
          return Optional.empty();
        }
        shape = now;
        digest = read;
        readAt = System.nanoTime();
        took = readAt - start;
      }
      return Optional.of(digest);
    }
  }
}
