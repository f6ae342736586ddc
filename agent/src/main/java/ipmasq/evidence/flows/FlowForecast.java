package ipmasq.evidence.flows;

import ipmasq.evidence.flows.FlowJudge.OwnAddresses;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.netlink.conntrack.Flow;
import ipmasq.policy.Packet;
import ipmasq.policy.Policy;
import ipmasq.policy.Revision;
import ipmasq.policy.Translation;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * What one policy instead of another means for the flows that the kernel tracks: which of them have
 * a source that they would not get if they began now. Used by one thread.
 *
 * <p>A flow counts as changed if the policies differ about it and its source is not what the new
 * one gives. Where they agree, it would get what it has, or another program decides about it.
 */
public final class FlowForecast implements Consumer<Flow> {
  private static final int MOST_RANGES = 4_096;
  private static final int MOST_PODS = 256;
  private static final int MOST_EXAMPLES = 3;

  private final FlowJudge before;
  private final FlowJudge after;
  private final Map<Family, Change> families = new EnumMap<>(Family.class);
  private final OwnAddresses node;
  private final KernelRoutes routes;
  private final Map<Key, Tally> changes = new HashMap<>();
  private int total;
  private int changed;
  private int unknown;

  private record Change(Policy before, Policy after, Revision revision) {}

  private record Key(Cidr range, String now, String then) {}

  private static final class Tally {
    private final Set<Ip> pods = new HashSet<>();
    private final List<SampledFlow> examples = new ArrayList<>();
    private int flows;
  }

  /**
   * The flows to one range that would leave with another source.
   *
   * @param range all addresses of the family for destinations in no range of the config
   * @param now what happened to their source
   * @param then what would happen to it
   * @param pods how many sources they have; {@value #MOST_PODS} stands for more, too
   */
  public record Range(
      Cidr range, int flows, String now, String then, int pods, List<SampledFlow> examples) {}

  /**
   * The answer.
   *
   * @param total flows of pods
   * @param changed how many of them would leave with another source
   * @param unknown flows that were not judged: there are too many sources or ways to ask for
   * @param ranges busiest first
   */
  public record Forecast(int total, int changed, int unknown, List<Range> ranges) {}

  /**
   * @param before by family; none: no rules
   */
  public FlowForecast(
      Map<Family, Policy> before,
      Map<Family, Policy> after,
      OwnAddresses node,
      KernelRoutes routes) {
    this.before = new FlowJudge(before.values());
    this.after = new FlowJudge(after.values());
    this.node = node;
    this.routes = routes;
    for (Family family : Family.values()) {
      Policy was = before.getOrDefault(family, nothing(family));
      Policy is = after.getOrDefault(family, nothing(family));
      families.put(family, new Change(was, is, new Revision(was, is)));
    }
  }

  /** As without rules: every packet keeps its source. */
  private static Policy nothing(Family family) {
    Cidr any = Cidr.around(Ip.of(family == Family.IPV4 ? "0.0.0.0" : "::"), 0);
    return new Policy(
        family,
        List.of(),
        List.of(),
        Policy.Destination.exempt(List.of(any)),
        new Translation(Optional.empty(), List.of(), false));
  }

  @Override
  public void accept(Flow tracked) {
    SampledFlow flow = SampledFlow.leaving(tracked, Instant.EPOCH);
    if (!tracked.isDecidedByNatRules() || node.keeps(flow.destination())) {
      return;
    }
    Change change = Objects.requireNonNull(families.get(flow.source().family()));
    if (!after.isPod(flow.source(), node, routes) && !before.isPod(flow.source(), node, routes)) {
      unknown += routes.isFull() && !node.own().contains(flow.source()) ? 1 : 0;
      return;
    }
    Optional<Boolean> inScope = inScope(change, flow);
    if (inScope.isEmpty()) {
      unknown++;
      return;
    }
    total++;
    Packet packet = Packet.to(flow.destination()).from(flow.source());
    Optional<Ip> given = Optional.of(flow.leftAs()).filter(_ -> flow.translated());
    if (inScope.get() && change.revision.concerns(packet, given)) {
      changed++;
      count(flow, after.isPod(flow.source(), node, routes));
    }
  }

  private void count(SampledFlow flow, boolean covered) {
    String then = covered ? after.treatment(flow.destination()) : "kept";
    String now =
        !flow.translated() ? "kept" : then.equals("kept") ? "masqueraded" : "" + flow.leftAs();
    Key key = new Key(after.range(flow.destination(), before), now, then);
    if (changes.size() >= MOST_RANGES && !changes.containsKey(key)) {
      key = new Key(Cidr.around(flow.destination(), 0), now, then);
    }
    Tally tally = changes.computeIfAbsent(key, _ -> new Tally());
    tally.flows++;
    if (tally.pods.size() < MOST_PODS) {
      tally.pods.add(flow.source());
    }
    if (tally.examples.size() < MOST_EXAMPLES) {
      tally.examples.add(flow);
    }
  }

  /** Whether both policies are about packets that leave there; empty: not known, or only one. */
  private Optional<Boolean> inScope(Change change, SampledFlow flow) {
    if (change.before.interfaces().isEmpty() && change.after.interfaces().isEmpty()) {
      return Optional.of(true);
    }
    Set<Boolean> answers = new HashSet<>();
    for (String way : routes.interfaces(flow.ends()).orElse(Set.of())) {
      Packet packet = new Packet(flow.source(), flow.destination(), false, way);
      answers.add(packet.leavesByOneOf(change.before.interfaces()));
      answers.add(packet.leavesByOneOf(change.after.interfaces()));
    }
    return answers.size() == 1 ? answers.stream().findFirst() : Optional.empty();
  }

  public Forecast forecast() {
    List<Range> busiest = new ArrayList<>();
    changes.forEach(
        (key, its) ->
            busiest.add(
                new Range(key.range, its.flows, key.now, key.then, its.pods.size(), its.examples)));
    busiest.sort(Comparator.comparingInt(Range::flows).reversed().thenComparing(Range::range));
    return new Forecast(total, changed, unknown, busiest);
  }
}
