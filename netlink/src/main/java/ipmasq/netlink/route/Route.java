package ipmasq.netlink.route;

import java.util.Set;

/**
 * Where packets go.
 *
 * @param kind what happens to them
 * @param interfaces indices of the interfaces they may leave by: several for a multipath route,
 *     where the kernel chooses per flow
 * @param gateway whether another router comes next
 */
public record Route(Kind kind, Set<Integer> interfaces, boolean gateway) {
  /** What happens to packets. */
  public enum Kind {
    /** They are forwarded or sent: {@code RTN_UNICAST}. */
    UNICAST,
    /** They are for this host: {@code RTN_LOCAL}. */
    LOCAL,
    /** Anything else: rejected, dropped, broadcast. */
    OTHER
  }

  public Route {
    interfaces = Set.copyOf(interfaces);
  }
}
