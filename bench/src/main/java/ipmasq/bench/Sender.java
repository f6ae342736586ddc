package ipmasq.bench;

import ipmasq.testkit.Namespace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Sends packets from a pod and tells what each cost, all the way through node and outside: the
 * kernel carries a packet over a veth, through the rules, in the context of the thread that sent
 * it, and counts that as the thread's CPU time. Used by one thread.
 */
final class Sender {
  private static final int FLOWS = 1_000;
  private static final int CONNECTIONS = 200;
  private static final long BUDGET_NANOS = 60_000_000; // a list of 100,000 takes milliseconds each
  private static final int BETWEEN_CLOCKS = 8;
  private static final int FIRST_PORT = 2_000;

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final Namespace pod;
  private final Ranges ranges;
  private final RandomGenerator random;
  private final ByteBuffer payload = ByteBuffer.allocateDirect(8);

  Sender(Namespace pod, Ranges ranges, RandomGenerator random) {
    this.pod = pod;
    this.ranges = ranges;
    this.random = random;
  }

  /** Microseconds of CPU time a packet. */
  double microseconds(Traffic traffic) {
    try {
      return switch (traffic) {
        case UDP_MISS -> datagrams(onePlace(Ranges.outside(), FLOWS));
        case UDP_HIT -> datagrams(onePlace(ranges.inside(), FLOWS));
        case UDP_RANDOM_MISS -> datagrams(places(true));
        case UDP_RANDOM_HIT -> datagrams(places(false));
        case TCP_MISS -> connections(onePlace(Ranges.outside(), CONNECTIONS));
        case TCP_HIT -> connections(onePlace(ranges.inside(), CONNECTIONS));
        case ESTABLISHED -> established();
      };
    } catch (IOException e) {
      throw new UncheckedIOException(traffic.words, e);
    }
  }

  /** The same address at as many ports: as many flows. */
  private static InetSocketAddress[] onePlace(InetAddress address, int flows) {
    InetSocketAddress[] places = new InetSocketAddress[flows];
    Arrays.setAll(places, i -> new InetSocketAddress(address, FIRST_PORT + i));
    return places;
  }

  private InetSocketAddress[] places(boolean outside) {
    InetSocketAddress[] places = new InetSocketAddress[FLOWS];
    Arrays.setAll(
        places,
        i ->
            new InetSocketAddress(
                outside ? Ranges.outside(random) : ranges.inside(random), FIRST_PORT + i));
    return places;
  }

  private double established() throws IOException {
    InetSocketAddress[] places = new InetSocketAddress[FLOWS];
    Arrays.fill(places, new InetSocketAddress(Ranges.outside(), FIRST_PORT));
    try (DatagramChannel channel = open()) {
      channel.send(payload.rewind(), places[0]);
      return datagrams(channel, places);
    }
  }

  private DatagramChannel open() throws IOException {
    // A fresh source port: the same places make new flows.
    return pod.call(() -> DatagramChannel.open(StandardProtocolFamily.INET).bind(null));
  }

  private double datagrams(InetSocketAddress[] places) throws IOException {
    try (DatagramChannel channel = open()) {
      return datagrams(channel, places);
    }
  }

  private double datagrams(DatagramChannel channel, InetSocketAddress[] places) throws IOException {
    return cost(places.length, i -> channel.send(payload.rewind(), places[i]));
  }

  private double connections(InetSocketAddress[] places) throws IOException {
    List<SocketChannel> channels = new ArrayList<>();
    try {
      pod.call(
          () -> {
            for (int i = 0; i < places.length; i++) {
              SocketChannel channel = SocketChannel.open(StandardProtocolFamily.INET);
              channels.add(channel);
              channel.configureBlocking(false);
              channel.bind(new InetSocketAddress("0.0.0.0", 0));
            }
            return null;
          });
      return cost(places.length, i -> channels.get(i).connect(places[i]));
    } finally {
      for (SocketChannel channel : channels) {
        channel.close();
      }
    }
  }

  private interface Packet {
    void send(int i) throws IOException;
  }

  private static double cost(int packets, Packet packet) throws IOException {
    long end = System.nanoTime() + BUDGET_NANOS;
    long before = THREADS.getCurrentThreadCpuTime();
    int sent = 0;
    while (sent < packets && (sent % BETWEEN_CLOCKS != 0 || System.nanoTime() < end)) {
      packet.send(sent++);
    }
    return (THREADS.getCurrentThreadCpuTime() - before) / 1e3 / sent;
  }
}
