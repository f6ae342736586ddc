package ipmasq.hook.ipset;

import java.util.List;

/**
 * A rule's {@code -m set --match-set}.
 *
 * @param directions {@code src} or {@code dst}, for each part of an element
 * @param inverted whether the packet must not be in the set
 * @param plain whether nothing else is asked, such as a counter of the element
 */
public record MatchSet(String name, List<String> directions, boolean inverted, boolean plain) {
  public MatchSet {
    directions = List.copyOf(directions);
  }

  /** As {@code iptables -S} prints it. */
  public String text() {
    return "-m set "
        + (inverted ? "! " : "")
        + "--match-set "
        + name
        + " "
        + String.join(",", directions);
  }

  boolean isSource(int part) {
    return directions.get(part).equals("src");
  }
}
