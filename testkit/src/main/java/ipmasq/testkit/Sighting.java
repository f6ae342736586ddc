package ipmasq.testkit;

import java.net.InetAddress;

/** What became of a packet. */
public sealed interface Sighting {
  /**
   * It arrived.
   *
   * @param where the host that got it
   * @param source the address from which it came, as the receiver saw it
   * @param port the port from which it came, as the receiver saw it
   */
  record Seen(Namespace where, InetAddress source, int port) implements Sighting {
    @Override
    public String toString() {
      return where + " saw it from " + source.getHostAddress() + " port " + port;
    }
  }

  /** Nobody saw it in time. */
  record Unseen(String why) implements Sighting {}

  /** The packet's source address as the receiver saw it; an error if nobody saw it. */
  default InetAddress source() {
    return seen().source;
  }

  /** This, if the packet arrived; else an error. */
  default Seen seen() {
    return switch (this) {
      case Seen seen -> seen;
      case Unseen(String why) -> throw new AssertionError("nobody saw the packet: " + why);
    };
  }
}
