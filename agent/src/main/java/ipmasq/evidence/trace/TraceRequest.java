package ipmasq.evidence.trace;

import ipmasq.net.Ip;
import ipmasq.netlink.conntrack.Flow;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Which flows to trace: those to an address, as they were sent or as a Service sent them on.
 *
 * @param protocol the number of the transport protocol
 * @param port where they go
 */
public record TraceRequest(Ip to, Optional<Ip> from, OptionalInt protocol, OptionalInt port) {
  /** Whether a flow is one of them. */
  boolean covers(Flow flow) {
    boolean there =
        ip(flow.original().destination().bytes()).equals(to)
            || ip(flow.reply().source().bytes()).equals(to);
    boolean portFits =
        port.isEmpty()
            || flow.original().destinationPort() == port.getAsInt()
            || flow.reply().sourcePort() == port.getAsInt();
    return there
        && portFits
        && from.map(ip(flow.original().source().bytes())::equals).orElse(true)
        && (protocol.isEmpty() || protocol.getAsInt() == flow.original().protocol());
  }

  private static Ip ip(byte[] bytes) {
    return Ip.ofBytes(bytes);
  }
}
