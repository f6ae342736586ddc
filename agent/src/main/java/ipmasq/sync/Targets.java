package ipmasq.sync;

import ipmasq.backend.Failure;
import ipmasq.config.Config;

/** The node and its backends, as a pass asks for them. Used by one thread. */
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
}
