package ipmasq.netlink.route;

import java.util.Set;

/**
 * What the rules of routing ({@code ip rule}) look at.
 *
 * @param marks the marks that they ask for
 * @param bySource whether one asks where packets come from
 * @param byPort whether one asks for a protocol or a port of the destination
 * @param byOther whether one asks for anything else, such as a source port or the type of service
 */
public record RoutingRules(Set<Integer> marks, boolean bySource, boolean byPort, boolean byOther) {
  public RoutingRules {
    marks = Set.copyOf(marks);
  }
}
