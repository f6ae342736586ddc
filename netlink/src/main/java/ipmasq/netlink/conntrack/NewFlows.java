package ipmasq.netlink.conntrack;

import ipmasq.netlink.Answer;
import ipmasq.netlink.NetlinkSocket;
import ipmasq.netlink.NetlinkSocket.Received;
import ipmasq.netlink.NetlinkUnavailable;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * The flows that begin in one network namespace, that of the thread which opens this, as long as it
 * is open. Used by one thread.
 *
 * <p>The kernel reports a flow when its first packet has passed all hooks, so the tuples are those
 * after NAT. While anybody listens each new flow costs the kernel more: listen briefly.
 */
public final class NewFlows implements AutoCloseable {
  private static final int NFNLGRP_CONNTRACK_NEW = 1;

  /** How late the end of the time may be noticed while nothing arrives. */
  private static final Duration STEP = Duration.ofMillis(100);

  private final NetlinkSocket socket;

  private NewFlows(NetlinkSocket socket) {
    this.socket = socket;
  }

  /**
   * Subscribes.
   *
   * @param room how many flows may wait to be read before the kernel drops some
   */
  public static NewFlows open(int room) throws NetlinkUnavailable {
    return new NewFlows(NetlinkSocket.joined(NFNLGRP_CONNTRACK_NEW, room, STEP));
  }

  /** Hands on the flows that begin from now on, for so long and so many at most. */
  public Answer<Received> receive(Duration time, int most, Consumer<Flow> each) {
    return socket.receive(time, most, message -> each.accept(Flow.read(message)));
  }

  /** Ends the subscription. */
  @Override
  public void close() {
    socket.close();
  }
}
