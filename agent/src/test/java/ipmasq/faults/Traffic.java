package ipmasq.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.testkit.Lab;
import ipmasq.testkit.Probe;
import ipmasq.testkit.Sighting;
import ipmasq.testkit.Sighting.Seen;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Packets from the pod all the while, each the first of its flow: every one must meet a verdict
 * that the old rules have for it, or the new. A thread of its own sends them.
 */
final class Traffic implements AutoCloseable {
  /** Slow enough that no source port comes back while the kernel remembers its last flow. */
  private static final Duration PAUSE = Duration.ofMillis(20);

  /** What the outside may see of a packet to there. */
  record Allowed(String destination, boolean asItself, boolean asNode) {
    private boolean permits(InetAddress source) {
      InetAddress to = InetAddress.ofLiteral(destination);
      return asItself && source.equals(Lab.POD.like(to))
          || asNode && source.equals(Lab.NODE.like(to));
    }
  }

  private final Lab lab;
  private final List<Allowed> allowed;
  private final List<String> wrong = new CopyOnWriteArrayList<>();
  private final AtomicInteger rounds = new AtomicInteger();
  private final Thread thread;
  private volatile boolean over;

  private Traffic(Lab lab, List<Allowed> allowed) {
    this.lab = lab;
    this.allowed = allowed;
    thread = Thread.ofPlatform().daemon().name("traffic").start(this::send);
  }

  /** Between two states of the node. */
  static Traffic between(Lab lab, World old, World wanted) {
    return new Traffic(
        lab,
        World.DESTINATIONS.stream()
            .map(
                to ->
                    new Allowed(
                        to,
                        !old.masquerades(to) || !wanted.masquerades(to),
                        old.masquerades(to) || wanted.masquerades(to)))
            .toList());
  }

  private void send() {
    List<Probe> probes = allowed.stream().map(a -> Probe.udp(a.destination)).toList();
    while (!over) {
      List<Sighting> seen = lab.sendAll(probes);
      for (int i = 0; i < seen.size(); i++) {
        // A packet that nobody saw met no verdict of ours: nothing here drops any.
        if (!(seen.get(i) instanceof Seen s && allowed.get(i).permits(s.source()))) {
          wrong.add(allowed.get(i) + ": " + seen.get(i));
        }
      }
      rounds.incrementAndGet();
      LockSupport.parkNanos(PAUSE.toNanos());
    }
  }

  /** Stops, and fails where any packet met anything else. */
  @Override
  public void close() {
    over = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    assertEquals(List.of(), wrong);
    assertTrue(rounds.get() > 0);
  }
}
