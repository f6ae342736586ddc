package ipmasq.netlink.conntrack;

import ipmasq.netlink.Data;
import java.net.InetAddress;
import java.net.UnknownHostException;

/** Flows in words, for tests. */
final class FlowText {
  private FlowText() {}

  static String of(Flow flow) {
    return of(flow.original()) + ", answered " + of(flow.reply());
  }

  static String of(Tuple tuple) {
    return end(tuple.source(), tuple.sourcePort())
        + " > "
        + end(tuple.destination(), tuple.destinationPort());
  }

  private static String end(Data address, int port) {
    try {
      return InetAddress.getByAddress(address.bytes()).getHostAddress() + ":" + port;
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
  }
}
