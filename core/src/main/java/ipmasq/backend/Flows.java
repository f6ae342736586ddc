package ipmasq.backend;

import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.policy.Revision;
import java.util.Set;

/** The established flows on the node. Used by one thread. */
public interface Flows {
  /** Knows no flows. */
  Flows NONE = (_, _, _, _) -> new Forgotten.Some(0);

  /**
   * Deletes the tracking entries of flows that a revision affects, so that their next packets are
   * judged again. Flows to a service are left alone: their destination was chosen when they began,
   * and would be chosen again.
   *
   * @param node the node's own addresses: packets to them are out of scope
   */
  Forgotten forget(Family family, Revision revision, boolean udpOnly, Set<Ip> node);

  /** The result. */
  sealed interface Forgotten {
    /** The number of flows. */
    record Some(int flows) implements Forgotten {}

    /** None, or not all: the remaining flows keep their source. */
    record Failed(Failure failure) implements Forgotten {}
  }
}
