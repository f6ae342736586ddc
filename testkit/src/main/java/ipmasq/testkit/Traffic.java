package ipmasq.testkit;

import ipmasq.testkit.Flow.Sent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * What is sent in a lab, and seen: each port that a packet goes to is watched on all hosts.
 * Thread-safe.
 */
final class Traffic implements AutoCloseable {
  private static final int FIRST_PORT = 20_000;
  private static final int PORTS = 40_000;
  private static final int AT_ONCE = 128; // far below what the receiver's buffer holds

  private final Witness witness = new Witness();
  private final Namespace usualSender;
  private final List<Namespace> hosts;
  private final Set<Integer> watched = new HashSet<>();
  private final AtomicInteger ports = new AtomicInteger();

  Traffic(Namespace usualSender, List<Namespace> hosts) {
    this.usualSender = usualSender;
    this.hosts = new ArrayList<>(hosts);
  }

  synchronized void addHost(Namespace host) {
    hosts.add(host);
    watched.forEach(port -> listen(host, port));
  }

  private synchronized void watch(int port) {
    if (watched.add(port)) {
      hosts.forEach(host -> listen(host, port));
    }
  }

  private void listen(Namespace host, int port) {
    try {
      witness.listen(host, port);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot listen on " + host + " at port " + port, e);
    }
  }

  Flow flow(Probe probe) {
    watch(probe.port());
    return sender(probe).call(() -> open(probe));
  }

  private Namespace sender(Probe probe) {
    return probe.from() != null ? probe.from() : usualSender;
  }

  private Flow open(Probe probe) {
    try {
      return Flow.open(witness, probe, this::freshPort);
    } catch (IOException e) {
      throw new UncheckedIOException(probe.toString(), e);
    }
  }

  private int freshPort() {
    return FIRST_PORT + Math.floorMod(ports.getAndIncrement(), PORTS);
  }

  List<Sighting> sendAll(List<Probe> probes) {
    List<Sighting> sightings = new ArrayList<>();
    for (int start = 0; start < probes.size(); start += AT_ONCE) {
      List<Probe> some = probes.subList(start, Math.min(start + AT_ONCE, probes.size()));
      sightings.addAll(sendTogether(some));
    }
    return sightings;
  }

  private List<Sighting> sendTogether(List<Probe> probes) {
    Flow[] flows = new Flow[probes.size()];
    try {
      openAll(probes, flows);
      Sent[] sent = new Sent[flows.length];
      for (int i = 0; i < flows.length; i++) {
        sent[i] = flows[i].fire();
      }
      long until = System.nanoTime() + Flow.DEADLINE.toNanos();
      List<Sighting> sightings = new ArrayList<>();
      for (int i = 0; i < flows.length; i++) {
        sightings.add(flows[i].await(sent[i], until));
      }
      return sightings;
    } finally {
      for (Flow flow : flows) {
        if (flow != null) {
          flow.close();
        }
      }
    }
  }

  /** One visit per sending host, because entering it takes most of the time. */
  private void openAll(List<Probe> probes, Flow[] flows) {
    Map<Namespace, List<Integer>> byHost = new LinkedHashMap<>();
    for (int i = 0; i < flows.length; i++) {
      watch(probes.get(i).port());
      byHost.computeIfAbsent(sender(probes.get(i)), _ -> new ArrayList<>()).add(i);
    }
    byHost.forEach(
        (host, indices) ->
            host.<@Nullable Void, RuntimeException>call(
                () -> {
                  indices.forEach(i -> flows[i] = open(probes.get(i)));
                  return null;
                }));
  }

  @Override
  public void close() {
    witness.close();
  }
}
