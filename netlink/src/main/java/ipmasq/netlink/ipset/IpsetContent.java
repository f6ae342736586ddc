package ipmasq.netlink.ipset;

import java.util.List;

/**
 * An ipset and its elements.
 *
 * @param type {@code hash:ip}, {@code hash:ip,port}, {@code list:set}
 * @param family 2 for IPv4, 10 for IPv6, 0 for either
 * @param expires whether elements may have timeouts
 * @param masked whether addresses are compared under a mask that is no prefix
 * @param elements in no order
 * @param whole whether those are all
 */
public record IpsetContent(
    String type,
    int family,
    boolean expires,
    boolean masked,
    List<IpsetElement> elements,
    boolean whole) {
  public IpsetContent {
    elements = List.copyOf(elements);
  }
}
