package ipmasq.testkit;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;

/** What one host is called in either family. */
public record Addresses(Inet4Address v4, Inet6Address v6) {
  public static Addresses of(String v4, String v6) {
    return new Addresses(Inet4Address.ofLiteral(v4), (Inet6Address) Inet6Address.ofLiteral(v6));
  }

  /** The address that talks with {@code other}: the one of its family. */
  public InetAddress like(InetAddress other) {
    return other instanceof Inet4Address ? v4 : v6;
  }

  boolean contains(InetAddress address) {
    return address.equals(v4) || address.equals(v6);
  }
}
