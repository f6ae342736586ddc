package ipmasq.backend.iptables;

import ipmasq.backend.Failure;
import ipmasq.net.Family;
import java.util.Optional;

/**
 * What nf_tables says of the nat table that iptables-nft keeps, without a process and whatever else
 * stands there. Used by one thread.
 */
interface NatTable extends AutoCloseable {
  /** What came of a question. */
  sealed interface NatAnswer<T> {
    record Answered<T>(T value) implements NatAnswer<T> {}

    record AnswerFailed<T>(Failure failure) implements NatAnswer<T> {}
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

  /** Whether the table is there, but asleep: none of its rules sees a packet. */
  NatAnswer<Boolean> dormant(Family family);

  /** Gives up what it asks by; asked again, it starts anew. */
  @Override
  default void close() {}
}
