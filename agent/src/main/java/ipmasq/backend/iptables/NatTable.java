package ipmasq.backend.iptables;

import ipmasq.backend.Failure;
import ipmasq.net.Family;
import java.util.Optional;

/**
 * The nat table of iptables-nft as nf_tables reports it: no child process, and independent of the
 * table's size. Used by one thread.
 */
interface NatTable extends AutoCloseable {
  /** The answer to a query. */
  sealed interface NatAnswer<T> {
    record Known<T>(T value) implements NatAnswer<T> {}

    record Unknown<T>(Failure failure) implements NatAnswer<T> {}
  }

  /**
   * A chain.
   *
   * @param rules how many it has
   * @param jumps how many rules lead to it
   */
  record Use(int rules, int jumps) {}

  /** The chain of that name; empty: there is none. */
  NatAnswer<Optional<Use>> chain(Family family, String name);

  /** Whether the table is known to be dormant: none of its rules sees a packet. */
  boolean isDormant(Family family);

  /** Closes the socket; the next query opens another. */
  @Override
  default void close() {}
}
