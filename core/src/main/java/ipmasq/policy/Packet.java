package ipmasq.policy;

import ipmasq.net.Cidr;
import ipmasq.net.Ip;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A packet about to leave the node.
 *
 * @param source the address it comes from; null if unknown
 * @param local whether the destination is an address of the node itself
 * @param outputInterface the name of the interface it leaves by; null if unknown
 */
public record Packet(
    @Nullable Ip source, Ip destination, boolean local, @Nullable String outputInterface) {

  /** A packet of which only the destination is known. */
  public static Packet to(Ip destination) {
    return new Packet(null, destination, false, null);
  }

  public Packet from(Ip newSource) {
    return new Packet(newSource, destination, local, outputInterface);
  }

  /** Whether it leaves by one of these interfaces; none: any. */
  public boolean leavesByOneOf(List<String> names) {
    return names.isEmpty() || names.stream().anyMatch(this::leavesBy);
  }

  boolean comesFrom(Cidr sources) {
    return source != null && sources.contains(source);
  }

  /** Whether it leaves by the interface of this name; a trailing {@code +} matches any suffix. */
  boolean leavesBy(String name) {
    if (outputInterface == null) {
      return false;
    }
    return name.endsWith("+")
        ? outputInterface.startsWith(name.substring(0, name.length() - 1))
        : outputInterface.equals(name);
  }
}
