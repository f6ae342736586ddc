package ipmasq.testkit.demo;

import ipmasq.testkit.Lab;
import ipmasq.testkit.Probe;
import java.net.InetAddress;

/**
 * A packet that the demo sends.
 *
 * @param kind what its destination is, in a word
 * @param fromNode whether the node itself sends it: what goes to a link-local IPv6 address is
 *     forwarded by nobody
 */
record Traveller(String destination, String kind, boolean fromNode) {
  static Traveller fromPod(String destination, String kind) {
    return new Traveller(destination, kind, false);
  }

  Probe probe(Lab lab) {
    return fromNode
        ? Probe.udp(lab.neighbour()).from(lab.node()).source(Lab.NODE.v6())
        : Probe.udp(destination);
  }

  /** The address that it sets out with. */
  InetAddress origin() {
    InetAddress to = InetAddress.ofLiteral(destination);
    return fromNode ? Lab.NODE.like(to) : Lab.POD.like(to);
  }
}
