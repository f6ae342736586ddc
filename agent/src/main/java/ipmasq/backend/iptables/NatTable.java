package ipmasq.backend.iptables;

import ipmasq.backend.Failure;
import ipmasq.net.Family;

/**
 * The nat table of iptables-nft as nf_tables reports it: no child process, and independent of the
 * table's size. Used by one thread.
 */
interface NatTable extends AutoCloseable {
  /** What nf_tables says of a chain. */
  sealed interface NatChain {
    /**
     * It exists.
     *
     * @param rules how many it has
     * @param jumps how many rules lead to it
     */
    record There(int rules, int jumps) implements NatChain {}

    record Missing() implements NatChain {}

    record Unknown(Failure failure) implements NatChain {}
  }

  NatChain chain(Family family, String name);

  /** Whether the table is known to be dormant: none of its rules sees a packet. */
  boolean isDormant(Family family);

  /** Closes the socket; the next query opens another. */
  @Override
  default void close() {}
}
