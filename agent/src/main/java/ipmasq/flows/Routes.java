package ipmasq.flows;

import ipmasq.net.Ip;
import java.util.Optional;
import java.util.Set;

/** Which way packets leave the node. */
public interface Routes {
  /** The interfaces that they may leave by; empty if they stay on the node or it is unknown. */
  Optional<Set<String>> interfaces(Ip from, Ip to);

  /**
   * Whether they may stay on the node if a rule marked them, as a transparent proxy does (TPROXY);
   * also if that is unknown.
   */
  boolean mayStay(Ip from, Ip to);
}
