package ipmasq.backend.nftables;

import ipmasq.backend.Watch;
import ipmasq.net.Family;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.Generation;
import ipmasq.netlink.nftables.Table;
import ipmasq.netlink.nftables.TableFamily;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An eye on a few objects of nf_tables, a question or two at a time. Used by one thread.
 *
 * <p>The kernel numbers its rulesets. While the number stays, nothing at all has changed: one round
 * trip. Else the objects are asked for, not their content: the kernel never gives a handle twice,
 * so the same handles are the same rules.
 */
public final class RulesWatch implements Watch, AutoCloseable {
  /** Reads what stands for the rules; equal when they are. */
  private interface Reading {
    Object read(Kernel kernel, Generation generation) throws Unanswered;
  }

  private final Kernel kernel = new Kernel();
  private final Reading reading;
  private @Nullable Generation seen;
  private Optional<Object> mark = Optional.empty();

  private RulesWatch(Reading reading) {
    this.reading = reading;
  }

  /** On the chain of that name, and on who jumps to it, as iptables-nft keeps them. */
  public static RulesWatch ofIptables(List<Family> families, String chain) {
    return new RulesWatch(
        (kernel, _) -> {
          List<Object> handles = new ArrayList<>();
          for (Family family : families) {
            Table nat = new Table(family == Family.IPV4 ? TableFamily.IP : TableFamily.IP6, "nat");
            for (String name : List.of(chain, "POSTROUTING")) {
              handles.add(kernel.handles(new Chain(nat, name)));
            }
          }
          return handles;
        });
  }

  /** On our own table. While it has an owner, no other process can change what is in it. */
  public static RulesWatch ofOwnTable() {
    return new RulesWatch(
        (kernel, generation) -> {
          Optional<Table> table = kernel.table();
          return table.isPresent() && table.get().owner() != 0 ? table.get() : generation;
        });
  }

  @Override
  public Optional<Object> mark() {
    try {
      Generation now = kernel.generation();
      if (!now.equals(seen)) {
        mark = Optional.of(reading.read(kernel, now));
        seen = now;
      }
      return mark;
    } catch (Unanswered cannotTell) {
      seen = null;
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    kernel.close();
  }
}
