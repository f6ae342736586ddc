package ipmasq.netlink.ipset;

import java.util.List;

/**
 * An ipset and its elements.
 *
 * @param expires whether elements may have timeouts
 * @param masked whether addresses are compared under a mask that is no prefix
 * @param elements in no order
 * @param whole whether those are all
 */
public record IpsetContent(
    boolean expires, boolean masked, List<IpsetElement> elements, boolean whole) {
  public IpsetContent {
    elements = List.copyOf(elements);
  }
}
