package ipmasq.evidence.flows;

import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.PortRange;
import ipmasq.net.Protocols;
import ipmasq.netlink.conntrack.Flow;
import ipmasq.policy.Policy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

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
  private static final int SLOTS = 1 << 18;

  /** What the kernel chooses from if nothing else is said: 1024 to 65535. */
  private static final int USUAL_PORTS = 64_512;

  private final Map<Family, Integer> usable;
  private final byte[] few = new byte[SLOTS];
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
    this.usable = usable(policies);
  }

  private static Map<Family, Integer> usable(Map<Family, Policy> policies) {
    Map<Family, Integer> usable = new HashMap<>();
    policies.forEach(
        (family, policy) -> {
          int ports = policy.translation().ports().stream().mapToInt(PortRange::size).sum();
          usable.put(family, ports == 0 ? USUAL_PORTS : ports);
        });
    return usable;
  }

  /** The fewest flows with which half of the ports towards one destination can be in use. */
  public static int half(Map<Family, Policy> policies) {
    return usable(policies).values().stream()
        .mapToInt(ports -> ports / 2)
        .min()
        .orElse(USUAL_PORTS);
  }

  @Override
  public void accept(Flow flow) {
    Ip address = Ip.ofBytes(flow.reply().destination().bytes());
    if (flow.reply().destinationPort() == 0 || !flow.isSourceTranslated()) {
      return;
    }
    Target target =
        new Target(
            address,
            flow.reply().protocol(),
            Ip.ofBytes(flow.reply().source().bytes()),
            flow.reply().sourcePort());
    int hash = target.hashCode() * 0x9e3779b1;
    int slot = hash >>> 14;
    if (few[slot] < FEW) {
      few[slot]++;
    } else {
      counts.merge(target, 1, Integer::sum);
    }
  }

  /** The busiest ten. */
  public List<Ports> busiest() {
    List<Ports> all = new ArrayList<>();
    counts.forEach(
        (target, count) ->
            all.add(
                new Ports(
                    target,
                    count + FEW,
                    usable.getOrDefault(target.address.family(), USUAL_PORTS))));
    all.removeIf(ports -> ports.used <= 4 * FEW && ports.ratio() < WORTH_NAMING);
    all.sort(Comparator.comparingDouble(Ports::ratio).reversed());
    return List.copyOf(all.subList(0, Math.min(all.size(), BUSIEST)));
  }
}
