package ipmasq.bench;

import ipmasq.backend.Backend;
import ipmasq.backend.iptables.IptablesBackend;
import ipmasq.backend.nftables.NftablesBackend;
import ipmasq.policy.Policy;
import ipmasq.testkit.Lab;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * Changes rules in place while new flows keep coming, and looks at each packet's source address.
 *
 * <p>Half of the flows go to ranges that stay exempt throughout, the other half nowhere near any:
 * whatever the changes do to other ranges, it must not be felt by either.
 */
final class Updates implements Section {
  private static final int PORT = 5_000;
  private static final int STABLE = 10_000;
  private static final int CHANGING = 64;
  private static final int PER_SECOND = 10_000;
  private static final byte EXEMPT = 1;
  private static final byte MASQUERADED = 2;

  private record Outcome(String what, int updates, long sent, long seen, long wrong, double rate) {}

  private final Scale scale;
  private final List<Outcome> outcomes = new ArrayList<>();

  Updates(Scale scale) {
    this.scale = scale;
  }

  @Override
  public void measure() {
    Progress.say("updates under a stream of new flows");
    try (NftablesBackend table = NftablesBackend.owning()) {
      outcomes.add(stream("ours, nftables, " + Unit.grouped(STABLE) + " ranges", table, STABLE));
    }
    outcomes.add(stream("ours, iptables, 64 ranges", IptablesBackend.ofNode("IP-MASQ-AGENT"), 64));
  }

  private Outcome stream(String what, Backend backend, int stable) {
    try (Lab lab = Lab.open()) {
      lab.node()
          .call(
              () -> {
                Layout.enforce(backend, new Ranges(stable).policy());
                return null;
              });
      // Flows of seconds ago are none of our business, and the table of flows is finite.
      lab.node().sysctl("netfilter/nf_conntrack_udp_timeout=5");
      DatagramChannel receiver =
          lab.outside().call(() -> DatagramChannel.open(StandardProtocolFamily.INET));
      DatagramChannel sender =
          lab.pod().call(() -> DatagramChannel.open(StandardProtocolFamily.INET));
      try (receiver;
          sender) {
        return stream(what, lab, backend, stable, receiver, sender);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Outcome stream(
      String what,
      Lab lab,
      Backend backend,
      int stable,
      DatagramChannel receiver,
      DatagramChannel sender)
      throws IOException {
    receiver.setOption(StandardSocketOptions.SO_RCVBUF, 8 << 20);
    receiver.bind(new InetSocketAddress("0.0.0.0", PORT));
    Counts counts = new Counts();
    Thread watching = Thread.ofPlatform().daemon().start(() -> watch(receiver, counts));
    Thread sending = Thread.ofPlatform().daemon().start(() -> send(sender, stable, counts));
    long start = System.nanoTime();
    int updates = lab.node().call(() -> update(backend, stable));
    counts.over = true;
    join(sending);
    double seconds = (System.nanoTime() - start) / 1e9;
    LockSupport.parkNanos(200_000_000); // for the last packets to arrive
    receiver.close();
    join(watching);
    return new Outcome(
        what, updates, counts.sent, counts.seen, counts.wrong, counts.sent / seconds);
  }

  /** Written by one thread each, read once both have ended. */
  private static final class Counts {
    private volatile boolean over;
    private long sent;
    private long seen;
    private long wrong;
  }

  private int update(Backend backend, int stable) {
    for (int i = 0; i < scale.updates(); i++) {
      int more = 1 + i % CHANGING;
      Policy policy = new Ranges(stable + more).policy();
      Layout.enforce(backend, policy);
    }
    return scale.updates();
  }

  private static void send(DatagramChannel channel, int stable, Counts counts) {
    Random random = new Random(3);
    Ranges ranges = new Ranges(stable);
    ByteBuffer packet = ByteBuffer.allocateDirect(1);
    long start = System.nanoTime();
    try {
      while (!counts.over) {
        boolean exempt = (counts.sent & 1) == 0;
        packet.clear().put(exempt ? EXEMPT : MASQUERADED).flip();
        var to = exempt ? ranges.inside(random) : Ranges.outside(random);
        channel.send(packet, new InetSocketAddress(to, PORT));
        long ahead = start + ++counts.sent * 1_000_000_000L / PER_SECOND - System.nanoTime();
        if (ahead > 1_000_000) {
          LockSupport.parkNanos(ahead);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void watch(DatagramChannel channel, Counts counts) {
    ByteBuffer packet = ByteBuffer.allocateDirect(16);
    Inet4Address pod = Lab.POD.v4();
    Inet4Address node = Lab.NODE.v4();
    try {
      while (true) {
        InetSocketAddress from = (InetSocketAddress) channel.receive(packet.clear());
        counts.seen++;
        Inet4Address right = packet.flip().get() == EXEMPT ? pod : node;
        if (!right.equals(from.getAddress())) {
          counts.wrong++;
        }
      }
    } catch (ClosedChannelException over) {
      // All has been seen.
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void write(Report report) {
    if (scale.full()) {
      report.measured(Promise.WRONG_PACKETS, outcomes.stream().mapToLong(Outcome::wrong).sum());
    }
    report.section(
        "Updates under a stream of new flows",
        """
        Ranges come and go while a pod keeps opening flows, half of them to ranges that stay exempt, half to nowhere near \
        any. The outside checks the source address of every packet.
        """);
    List<String[]> rows = new ArrayList<>();
    rows.add(new String[] {"", "updates", "flows per second", "packets seen", "wrong source"});
    for (Outcome outcome : outcomes) {
      rows.add(
          new String[] {
            outcome.what,
            Unit.grouped(outcome.updates),
            Unit.grouped(Math.round(outcome.rate)),
            Unit.grouped(outcome.seen) + " of " + Unit.grouped(outcome.sent),
            Unit.grouped(outcome.wrong)
          });
    }
    report.table(rows);
  }
}
