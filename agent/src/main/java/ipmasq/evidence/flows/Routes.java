package ipmasq.evidence.flows;

import ipmasq.net.Ip;
import java.util.Optional;
import java.util.Set;

/** Which way packets come to the node and leave it. */
public interface Routes {
  /** Whether hosts behind the node have this address, not hosts that it reaches by an uplink. */
  boolean isBehindNode(Ip source);

  /**
   * The interfaces that they may leave by, also if a rule marked them; empty if they stay on the
   * node or it is unknown.
   */
  Optional<Set<String>> interfaces(FlowEnds ends);

  /**
   * Whether they may stay on the node if a rule marked them, as a transparent proxy does (TPROXY);
   * also if that is unknown.
   */
  boolean mayStay(FlowEnds ends);
}
