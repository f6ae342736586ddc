package ipmasq.netlink.route;

import java.util.Set;

/**
 * What the rules of routing ({@code ip rule}) look at.
 *
 * @param marks the marks that they ask for
 * @param bySource whether one asks where packets come from
 * @param byPort whether one asks for a protocol or a port
 */
public record RoutingRules(Set<Integer> marks, boolean bySource, boolean byPort) {
  public RoutingRules {
    marks = Set.copyOf(marks);
  }
}
