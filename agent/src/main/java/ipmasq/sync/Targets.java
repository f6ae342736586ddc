package ipmasq.sync;

import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.backend.Watch;
import ipmasq.config.Config;
import java.util.List;

/** The node and its backends, as a sync asks for them. Used by one thread. */
public interface Targets {
  /** The facts about the node. Cheap: what cannot change is looked up once. */
  Node look();

  /** Where the rules of a config go on a node. */
  Target target(Node node, Config config);

  /**
   * Takes note that rules could not be put in force there.
   *
   * @return whether iptables is ruled out from now on, so that another target may be chosen
   */
  boolean ruledOut(Target target, Failure why);

  /**
   * Where the rules of a config go on this node.
   *
   * @param reason why there, for people
   * @param watch sees changes of the rules there
   * @param others backends whose rules must not stay beside these
   */
  record Target(Backend backend, String reason, Watch watch, List<Backend> others) {
    public Target {
      others = List.copyOf(others);
    }

    /**
     * The reason and what the backend found on the node. To be called after the backend's first
     * look.
     */
    String reasonInFull() {
      String details = backend.details();
      return details.isEmpty() ? reason : reason + "; " + details;
    }
  }
}
