package ipmasq.evidence.flows;

import ipmasq.net.Ip;
import ipmasq.net.Protocols;
import ipmasq.netlink.conntrack.Flow;
import java.time.Instant;

/**
 * A flow as its packets leave: to the endpoint that a Service chose for it.
 *
 * @param at when it was seen
 * @param leftAs the source address that its packets left with
 * @param protocol the number of the transport protocol
 * @param port where it goes; 0 for protocols without ports
 */
public record SampledFlow(
    Instant at, Ip source, Ip destination, Ip leftAs, int protocol, int port) {

  static SampledFlow leaving(Flow flow, Instant at) {
    return new SampledFlow(
        at,
        Ip.ofBytes(flow.original().source().bytes()),
        Ip.ofBytes(flow.reply().source().bytes()),
        Ip.ofBytes(flow.reply().destination().bytes()),
        flow.original().protocol(),
        flow.reply().sourcePort());
  }

  FlowEnds ends() {
    return new FlowEnds(source, destination, protocol, port);
  }

  public boolean translated() {
    return !leftAs.equals(source);
  }

  /** {@code udp}, or the number of one that few people know. */
  public String protocolName() {
    String name = Protocols.name(protocol);
    return name.equals(String.valueOf(protocol)) ? "protocol " + name : name;
  }

  /** {@code 10.244.1.10 to 10.9.9.9 (udp 53) left as 198.51.100.1}. */
  @Override
  public String toString() {
    return "%s to %s (%s%s) left %s"
        .formatted(
            source,
            destination,
            protocolName(),
            port == 0 ? "" : " " + port,
            translated() ? "as " + leftAs : "with the pod's address");
  }
}
