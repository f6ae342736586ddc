package ipmasq.netlink.conntrack;

import ipmasq.netlink.Answer;
import ipmasq.netlink.Errno;
import ipmasq.netlink.MessageWriter;
import ipmasq.netlink.NetlinkFailure;
import ipmasq.netlink.NetlinkSocket;
import ipmasq.netlink.NetlinkUnavailable;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The flows of one network namespace: that of the thread which opens this. Used by one thread at a
 * time.
 */
public final class Conntrack implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final int NFNL_SUBSYS_CTNETLINK = 1;
  private static final int IPCTNL_MSG_CT_GET = 1;
  private static final int IPCTNL_MSG_CT_DELETE = 2;

  private final NetlinkSocket socket;
  private final MessageWriter request = new MessageWriter();

  private Conntrack(NetlinkSocket socket) {
    this.socket = socket;
  }

  public static Conntrack open() throws NetlinkUnavailable {
    return new Conntrack(NetlinkSocket.open(NetlinkSocket.NETLINK_NETFILTER, LIMIT));
  }

  /**
   * Hands on the flows of a family (2 for IPv4, 10 for IPv6, 0 for all). They come and go
   * meanwhile; one that lives throughout is seen. Empty: that was all.
   */
  public Optional<NetlinkFailure> flows(int family, Consumer<Flow> each) {
    request
        .begin(NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_GET, NetlinkSocket.NLM_F_REQUEST)
        .netfilter(family, 0);
    return socket.list(request, message -> each.accept(Flow.read(message)));
  }

  /** Forgets a flow, so that its next packet is a new one's; false: it was gone already. */
  public Answer<Boolean> delete(Flow flow) {
    request
        .begin(
            NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_DELETE,
            NetlinkSocket.NLM_F_REQUEST | NetlinkSocket.NLM_F_ACK)
        .netfilter(flow.family(), 0);
    flow.name(request);
    Optional<NetlinkFailure> failure = socket.ask(request, _ -> {});
    if (failure.isEmpty()) {
      return new Answer.Given<>(true);
    }
    return failure.get() instanceof NetlinkFailure.Refused(var refusal)
            && refusal.errno().is(Errno.ENOENT)
        ? new Answer.Given<>(false)
        : new Answer.Failed<>(failure.get());
  }

  @Override
  public void close() {
    socket.close();
  }
}
