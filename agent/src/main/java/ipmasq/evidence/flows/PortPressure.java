package ipmasq.evidence.flows;

import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.PortRange;
import ipmasq.net.Protocols;
import ipmasq.netlink.conntrack.Flow;
import ipmasq.policy.Policy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * How many source ports masqueraded flows use towards each destination. A flow that finds none left
 * is lost. Used by one thread.
 *
 * <p>Most destinations have few flows. Those are only counted together, by a hash, so that memory
 * stays small; what is counted by name may be up to {@value #FEW} too many for that reason.
 */
public final class PortPressure implements Consumer<Flow> {
  private static final int BUSIEST = 10;
  private static final int FEW = 8;
  private static final double WORTH_NAMING = 0.1;
  private static final int SLOT_BITS = 18;

  /** What the kernel chooses from if nothing else is said: 1024 to 65535. */
  private static final int USUAL_PORTS = 64_512;

  private final Map<Family, Policy> policies;
  private final byte[] few = new byte[1 << SLOT_BITS];
  private final Map<Target, Integer> counts = new HashMap<>();

  /** Flows with these in common need different ports. */
  public record Target(Ip address, int protocol, Ip destination, int port) {}

  /** Ports in use towards one destination. */
  public record Ports(Target target, int used, int usable) {
    public double ratio() {
      return (double) used / usable;
    }

    Map<String, Object> fields() {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("address", target.address);
      fields.put("protocol", Protocols.name(target.protocol));
      fields.put("destination", target.destination);
      fields.put("port", target.port);
      fields.put("used", used);
      fields.put("usable", usable);
      return fields;
    }

    /** {@code 192.0.2.10 to 203.0.113.5 (tcp 443): 32256 of 64512 ports in use (50 %)}. */
    @Override
    public String toString() {
      return "%s to %s (%s %d): %d of %d ports in use (%d %%)"
          .formatted(
              target.address,
              target.destination,
              Protocols.name(target.protocol),
              target.port,
              used,
              usable,
              Math.round(100 * ratio()));
    }
  }

  public PortPressure(Map<Family, Policy> policies) {
    this.policies = policies;
  }

  /** How many there are to choose from. */
  private static int usable(Map<Family, Policy> policies, Family family) {
    Policy policy = policies.get(family);
    int ports =
        policy == null ? 0 : policy.translation().ports().stream().mapToInt(PortRange::size).sum();
    return ports == 0 ? USUAL_PORTS : ports;
  }

  /** The fewest flows with which a quarter of the ports towards one destination can be in use. */
  public static int quarter(Map<Family, Policy> policies) {
    return Stream.of(Family.values()).mapToInt(each -> usable(policies, each) / 4).min().orElse(0);
  }

  @Override
  public void accept(Flow flow) {
    if (flow.reply().destinationPort() != 0 && flow.isSourceTranslated()) {
      SampledFlow its = SampledFlow.leaving(flow, Instant.EPOCH);
      Target target = new Target(its.leftAs(), its.protocol(), its.destination(), its.port());
      int slot = slot(target);
      if (few[slot] < FEW) {
        few[slot]++;
      } else {
        counts.merge(target, 1, Integer::sum);
      }
    }
  }

  /** Not by the record's own hash, which is the same for neighbouring addresses and ports. */
  private static int slot(Target target) {
    long mixed =
        target.destination.hashCode() * 0x9e3779b97f4a7c15L
            + (target.port << 8 | target.protocol) * 0xc2b2ae3d27d4eb4fL
            + target.address.hashCode() * 0x165667b19e3779f9L;
    return (int) (mixed >>> Long.SIZE - SLOT_BITS);
  }

  /** The busiest ten. */
  public List<Ports> busiest() {
    List<Ports> all = new ArrayList<>();
    counts.forEach(
        (target, count) ->
            all.add(new Ports(target, count + FEW, usable(policies, target.address.family()))));
    all.removeIf(ports -> ports.used <= 4 * FEW && ports.ratio() < WORTH_NAMING);
    all.sort(Comparator.comparingDouble(Ports::ratio).reversed());
    return List.copyOf(all.subList(0, Math.min(all.size(), BUSIEST)));
  }
}
