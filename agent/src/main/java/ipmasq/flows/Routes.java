package ipmasq.flows;

import ipmasq.net.Ip;
import java.util.Optional;
import java.util.Set;

/** Which way packets leave the node. */
@FunctionalInterface
public interface Routes {
  /** The interfaces that they may leave by; empty if they stay on the node or it is unknown. */
  Optional<Set<String>> interfaces(Ip from, Ip to);
}
