package ipmasq.bench;

import ipmasq.testkit.Lab;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.random.RandomGenerator;

/**
 * Sends packets from a pod and tells what each cost, all the way through node and outside: the
 * kernel carries a packet over a veth, through the rules, in the context of the thread that sent
 * it, and counts that as the thread's CPU time. Used by one thread.
 */
final class Sender implements AutoCloseable {
  private static final int FLOWS = 128;
  private static final int AT_ONCE = 16;
  private static final long BUDGET_NANOS = 40_000_000; // a list of 100,000 takes milliseconds each
  private static final int FIRST_PORT = 2_000;
  private static final int LAST_PORT = 60_000;
  private static final byte[] POD = {2, 0, 0, (byte) 0xaa, 0, 2};
  private static final byte[] NODE = {2, 0, 0, (byte) 0xaa, 0, 1};

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final Cable cable;
  private final Ranges ranges;
  private final RandomGenerator random;
  private final Arena arena = Arena.ofConfined();
  private final Frames frames = new Frames(arena, FLOWS, NODE, POD, Lab.POD.v4());
  private int sourcePort = FIRST_PORT;

  Sender(Lab lab, Ranges ranges, RandomGenerator random) {
    this.cable = Cable.of(lab.pod(), "eth0");
    this.ranges = ranges;
    this.random = random;
  }

  /** Microseconds of CPU time a packet. */
  double microseconds(Traffic traffic) {
    // Another source port: the same places make new flows.
    sourcePort = sourcePort == LAST_PORT ? FIRST_PORT : sourcePort + 1;
    frames.clear();
    for (int i = 0; i < FLOWS; i++) {
      switch (traffic) {
        case UDP_MISS -> frames.udp(sourcePort, Ranges.outside(), FIRST_PORT + i);
        case UDP_HIT -> frames.udp(sourcePort, ranges.inside(), FIRST_PORT + i);
        case UDP_RANDOM_MISS -> frames.udp(sourcePort, Ranges.outside(random), FIRST_PORT + i);
        case UDP_RANDOM_HIT -> frames.udp(sourcePort, ranges.inside(random), FIRST_PORT + i);
        case TCP_MISS -> frames.syn(sourcePort, Ranges.outside(), FIRST_PORT + i);
        case TCP_HIT -> frames.syn(sourcePort, ranges.inside(), FIRST_PORT + i);
        case ESTABLISHED -> frames.udp(sourcePort, Ranges.outside(), FIRST_PORT);
      }
    }
    if (traffic == Traffic.ESTABLISHED) {
      cable.send(frames, 0, 1);
    }
    return cost();
  }

  private double cost() {
    long end = System.nanoTime() + BUDGET_NANOS;
    long before = THREADS.getCurrentThreadCpuTime();
    int sent = 0;
    while (sent < FLOWS && System.nanoTime() < end) {
      cable.send(frames, sent, AT_ONCE);
      sent += AT_ONCE;
    }
    return (THREADS.getCurrentThreadCpuTime() - before) / 1e3 / sent;
  }

  @Override
  public void close() {
    cable.close();
    arena.close();
  }
}
