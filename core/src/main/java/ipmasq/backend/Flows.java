package ipmasq.backend;

import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.policy.Revision;
import java.util.Set;

/** The flows under way on the node. Used by one thread. */
public interface Flows {
  /** Where nothing is known of flows. */
  Flows NONE = (_, _, _, _) -> new Forgotten.Some(0);

  /**
   * Forgets the flows that a revision concerns, so that their next packets are judged again. Flows
   * to a service are left alone: their destination was chosen when they began, and would be again.
   *
   * @param node the node's own addresses: packets to them are not ours
   */
  Forgotten forget(Family family, Revision revision, boolean udpOnly, Set<Ip> node);

  /** What came of it. */
  sealed interface Forgotten {
    /** So many. */
    record Some(int flows) implements Forgotten {}

    /** None, or not all: the rest keeps the source it has. */
    record Failed(Failure failure) implements Forgotten {}
  }
}
