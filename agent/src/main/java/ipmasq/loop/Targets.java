package ipmasq.loop;

import ipmasq.backend.Failure;
import ipmasq.config.Config;

/** The node and its backends, as a pass asks for them. Used by one thread. */
public interface Targets {
  /** What the node is now. Cheap: what cannot change is looked up once. */
  Node look();

  /** Where the rules of a config go on a node. */
  Target target(Node node, Config config);

  /**
   * Rules could not be put in force there.
   *
   * @return whether the node counts as another one from now on, so that it is worth another try
   */
  boolean failed(Target target, Failure why);
}
