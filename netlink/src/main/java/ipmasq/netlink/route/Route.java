package ipmasq.netlink.route;

import java.util.Set;

/**
 * Where packets go.
 *
 * @param kind what becomes of them
 * @param interfaces indices of those that they may leave by: several where the route has several
 *     ways, among which the kernel chooses per flow
 */
public record Route(Kind kind, Set<Integer> interfaces) {
  /** What becomes of packets. */
  public enum Kind {
    /** They are sent on. */
    UNICAST,
    /** They are for this host. */
    LOCAL,
    /** They are refused, dropped or sent to all: anything else. */
    OTHER
  }

  public Route {
    interfaces = Set.copyOf(interfaces);
  }
}
