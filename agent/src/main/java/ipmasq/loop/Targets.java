package ipmasq.loop;

import ipmasq.backend.Failure;
import ipmasq.config.Config;

/** The node and its backends, as a pass asks for them. Used by one thread. */
public interface Targets {
  /** The facts about the node. Cheap: what cannot change is looked up once. */
  Node look();

  /** Where the rules of a config go on a node. */
  Target target(Node node, Config config);

  /**
   * Rules could not be put in force there.
   *
   * @return whether the node's facts changed because of it, so that a retry is worthwhile
   */
  boolean failed(Target target, Failure why);
}
