package ipmasq.netlink.nftables;

import ipmasq.netlink.Answer;
import ipmasq.netlink.NetlinkSocket;
import ipmasq.netlink.NetlinkSocket.Received;
import ipmasq.netlink.NetlinkUnavailable;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * The steps of traced packets in one network namespace, that of the thread which opens this, as
 * long as it is open. Used by one thread.
 */
public final class Traces implements AutoCloseable {
  private static final int NFNLGRP_NFTRACE = 9;

  /** How late the end of the time may be noticed while nothing arrives. */
  private static final Duration STEP = Duration.ofMillis(100);

  private final NetlinkSocket socket;

  private Traces(NetlinkSocket socket) {
    this.socket = socket;
  }

  /**
   * Subscribes.
   *
   * @param room how many steps may wait to be read before the kernel drops some
   */
  public static Traces open(int room) throws NetlinkUnavailable {
    return new Traces(NetlinkSocket.joined(NFNLGRP_NFTRACE, room, STEP));
  }

  /** Hands on the steps that packets take from now on, for so long and so many at most. */
  public Answer<Received> receive(Duration time, int most, Consumer<Trace> each) {
    return socket.receive(
        time,
        most,
        message -> {
          if (message.type() == MessageType.inHeader(MessageType.NFT_MSG_TRACE)) {
            each.accept(Trace.read(message));
          }
        });
  }

  /** Ends the subscription. */
  @Override
  public void close() {
    socket.close();
  }
}
