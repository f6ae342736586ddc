package ipmasq.netlink.conntrack;

import ipmasq.netlink.Answer;
import ipmasq.netlink.Events;
import ipmasq.netlink.MessageWriter;
import ipmasq.netlink.NetlinkFailure;
import ipmasq.netlink.NetlinkSocket;
import ipmasq.netlink.NetlinkUnavailable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The flows of one network namespace: that of the thread which opens this. Used by one thread at a
 * time.
 */
public final class Conntrack implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final int AF_INET = 2;
  private static final int AF_INET6 = 10;
  private static final int NFNLGRP_CONNTRACK_NEW = 1;
  private static final int NFNL_SUBSYS_CTNETLINK = 1;
  private static final int IPCTNL_MSG_CT_GET = 1;
  private static final int IPCTNL_MSG_CT_DELETE = 2;
  private static final int IPCTNL_MSG_CT_GET_STATS_CPU = 4;
  private static final int IPCTNL_MSG_CT_GET_STATS = 5;
  private static final int CTA_STATS_INSERT_FAILED = 9;
  private static final int CTA_STATS_DROP = 10;
  private static final int CTA_STATS_GLOBAL_ENTRIES = 1;
  private static final int CTA_STATS_GLOBAL_MAX_ENTRIES = 2; // from kernel 4.18 on

  /** The kernel calls even a single answer one of many; only its confirmation ends it. */
  private static final int ONE_ANSWER = NetlinkSocket.NLM_F_ACK;

  private final NetlinkSocket socket;
  private final MessageWriter request = new MessageWriter();

  private Conntrack(NetlinkSocket socket) {
    this.socket = socket;
  }

  public static Conntrack open() throws NetlinkUnavailable {
    return new Conntrack(NetlinkSocket.open(NetlinkSocket.NETLINK_NETFILTER, LIMIT));
  }

  /**
   * The flows that begin from now on. The kernel reports one when its first packet has passed all
   * hooks, so the tuples are those after NAT. While anybody listens each new flow costs the kernel
   * more: listen briefly.
   *
   * @param room how many may wait to be read before the kernel drops some
   */
  public static Events<Flow> began(int room) throws NetlinkUnavailable {
    return Events.open(NFNLGRP_CONNTRACK_NEW, room, message -> Optional.of(Flow.read(message)));
  }

  /**
   * Hands on the flows of a family (2 for IPv4, 10 for IPv6, 0 for all). They come and go
   * meanwhile; one that lives throughout is seen. None is kept, so memory does not grow with their
   * number. Empty: that was all.
   */
  public Optional<NetlinkFailure> flows(int family, Consumer<Flow> each) {
    begin(IPCTNL_MSG_CT_GET, 0, family);
    return socket.list(request, message -> each.accept(Flow.read(message)));
  }

  /** The flow that began with such packets, of a protocol with ports; empty: there is none. */
  public Answer<Optional<Flow>> find(Tuple original) {
    begin(IPCTNL_MSG_CT_GET, ONE_ANSWER, original.isV6() ? AF_INET6 : AF_INET);
    Flow.name(request, original);
    List<Flow> found = new ArrayList<>(1);
    Optional<NetlinkFailure> failure =
        socket.ask(request, message -> found.add(Flow.read(message)));
    return Answer.of(failure.filter(f -> !f.isAbsent()), () -> found.stream().findFirst());
  }

  /**
   * How full connection tracking is, and what it could not do since the node started: sums over all
   * CPUs, of 32 bits each.
   *
   * @param entries flows that it tracks in this namespace
   * @param maximum the limit, {@code nf_conntrack_max}; 0: unknown
   * @param insertFailed flows that clashed with another: mostly no port was left for them
   * @param drop packets dropped because the table was full
   */
  public record Stats(long entries, long maximum, long insertFailed, long drop) {}

  public Answer<Stats> stats() {
    long[] sums = new long[4];
    begin(IPCTNL_MSG_CT_GET_STATS, ONE_ANSWER, 0);
    Optional<NetlinkFailure> failure =
        socket.ask(
            request,
            message -> {
              var global = message.attributes();
              sums[0] = Integer.toUnsignedLong(global.u32(CTA_STATS_GLOBAL_ENTRIES));
              sums[1] = Integer.toUnsignedLong(global.u32(CTA_STATS_GLOBAL_MAX_ENTRIES, 0));
            });
    if (failure.isEmpty()) {
      begin(IPCTNL_MSG_CT_GET_STATS_CPU, 0, 0);
      failure =
          socket.list(
              request,
              message -> {
                var cpu = message.attributes();
                sums[2] += Integer.toUnsignedLong(cpu.u32(CTA_STATS_INSERT_FAILED, 0));
                sums[3] += Integer.toUnsignedLong(cpu.u32(CTA_STATS_DROP, 0));
              });
    }
    return Answer.of(failure, () -> new Stats(sums[0], sums[1], sums[2], sums[3]));
  }

  /** Forgets a flow, so that its next packet is a new one's; false: it was gone already. */
  public Answer<Boolean> delete(Flow flow) {
    begin(IPCTNL_MSG_CT_DELETE, NetlinkSocket.NLM_F_ACK, flow.family());
    flow.name(request);
    Optional<NetlinkFailure> failure = socket.ask(request, _ -> {});
    return Answer.of(failure.filter(f -> !f.isAbsent()), failure::isEmpty);
  }

  private void begin(int message, int flags, int family) {
    request
        .begin(NFNL_SUBSYS_CTNETLINK << 8 | message, NetlinkSocket.NLM_F_REQUEST | flags)
        .netfilter(family, 0);
  }

  @Override
  public void close() {
    socket.close();
  }
}
