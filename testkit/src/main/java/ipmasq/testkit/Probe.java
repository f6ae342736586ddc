package ipmasq.testkit;

import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * A packet to be sent.
 *
 * @param from the host that sends it; null: the pod
 * @param source the address to send from; null: the kernel's choice
 * @param sourcePort the port to send from; 0: one that none of the last 40,000 probes had
 */
public record Probe(
    Protocol protocol,
    InetAddress destination,
    int port,
    @Nullable Namespace from,
    @Nullable InetAddress source,
    int sourcePort) {
  private static final int ANY_PORT = 7777;

  public enum Protocol {
    UDP,
    TCP
  }

  /** A datagram from the pod. */
  public static Probe udp(String destination) {
    return udp(InetAddress.ofLiteral(destination));
  }

  /** A datagram from the pod. */
  public static Probe udp(InetAddress destination) {
    return new Probe(Protocol.UDP, destination, ANY_PORT, null, null, 0);
  }

  /** A connection from the pod. */
  public static Probe tcp(String destination) {
    return tcp(InetAddress.ofLiteral(destination));
  }

  /** A connection from the pod. */
  public static Probe tcp(InetAddress destination) {
    return new Probe(Protocol.TCP, destination, ANY_PORT, null, null, 0);
  }

  public Probe port(int newPort) {
    return new Probe(protocol, destination, newPort, from, source, sourcePort);
  }

  public Probe from(Namespace host) {
    return new Probe(protocol, destination, port, host, source, sourcePort);
  }

  public Probe source(InetAddress address) {
    return new Probe(protocol, destination, port, from, address, sourcePort);
  }

  public Probe source(String address) {
    return source(InetAddress.ofLiteral(address));
  }

  public Probe sourcePort(int newSourcePort) {
    return new Probe(protocol, destination, port, from, source, newSourcePort);
  }

  @Override
  public String toString() {
    return protocol + " to " + destination.getHostAddress() + " port " + port;
  }
}
