package ipmasq.flows;

import ipmasq.flows.FlowJudge.Judgement;
import ipmasq.net.Ip;
import ipmasq.netlink.Answer;
import ipmasq.netlink.NetlinkSocket.Received;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.conntrack.Flow;
import ipmasq.netlink.conntrack.NewFlows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Samples new flows on the node. Used by one thread. */
public final class FlowSampler {
  /** Limits, because new flows cost the kernel more while somebody listens. */
  private static final Duration TIME = Duration.ofSeconds(1);

  private static final int MOST_FLOWS = 2_000;
  private static final int MOST_EXAMPLES = 5;
  private static final int MOST_RANGES = 256;
  private static final Path EVENTS = Path.of("/proc/sys/net/netfilter/nf_conntrack_events");

  private FlowSampler() {}

  /** The result. */
  public sealed interface Sampling {
    record Taken(FlowSample sample) implements Sampling {}

    /**
     * @param why a phrase
     */
    record Impossible(String why) implements Sampling {}
  }

  /** Listens for a second at most. */
  public static Sampling sample(FlowJudge judge, FlowJudge.OwnAddresses node) {
    if (switchedOff()) {
      return new Sampling.Impossible(
          "no evidence: the kernel reports no flows (sysctl net.netfilter.nf_conntrack_events=0)");
    }
    List<SampledFlow> flows = new ArrayList<>();
    try {
      return switch (listen(flows)) {
        case Answer.Failed<Received>(var failure) ->
            new Sampling.Impossible("no evidence: conntrack: " + failure);
        case Answer.Given<Received>(var received) ->
            new Sampling.Taken(judged(flows, received.lost(), judge, node));
      };
    } catch (NetlinkUnavailable refused) {
      return new Sampling.Impossible("no evidence: conntrack: " + refused.getMessage());
    }
  }

  /** Only collects: while this goes on, the kernel's new flows cost more. */
  private static Answer<Received> listen(List<SampledFlow> flows) throws NetlinkUnavailable {
    try (NewFlows events = NewFlows.open(MOST_FLOWS)) {
      return events.receive(TIME, MOST_FLOWS, flow -> add(flow, flows));
    }
  }

  private static boolean switchedOff() {
    try {
      return Files.readString(EVENTS).strip().equals("0");
    } catch (IOException unknown) {
      return false; // then there may be none, and none is reported
    }
  }

  /** Flows to a service are left out: their destination was decided elsewhere. */
  private static void add(Flow flow, List<SampledFlow> flows) {
    boolean toService =
        !flow.original().destination().equals(flow.reply().source())
            || flow.original().destinationPort() != flow.reply().sourcePort();
    if (!toService && flow.isDecidedByNatRules()) {
      flows.add(
          new SampledFlow(
              Instant.now(),
              Ip.ofBytes(flow.original().source().bytes()),
              Ip.ofBytes(flow.original().destination().bytes()),
              Ip.ofBytes(flow.reply().destination().bytes()),
              flow.original().protocol(),
              flow.original().destinationPort()));
    }
  }

  private static FlowSample judged(
      List<SampledFlow> flows, boolean lost, FlowJudge judge, FlowJudge.OwnAddresses node)
      throws NetlinkUnavailable {
    int judged = 0;
    List<SampledFlow> wrong = new ArrayList<>();
    Map<SampledRange, SampledRange> ranges = new HashMap<>();
    try (KernelRoutes routes = KernelRoutes.open()) {
      for (SampledFlow flow : flows) {
        Judgement judgement = judge.of(flow, node, routes);
        if (judgement == Judgement.LEFT_OUT) {
          continue;
        }
        judged++;
        boolean against = judgement == Judgement.AGAINST_CONFIG;
        if (against) {
          wrong.add(flow);
        }
        Ip to = flow.destination();
        SampledRange none = new SampledRange(to.family(), judge.range(to), 0, 0);
        ranges.put(none, ranges.getOrDefault(none, none).and(against));
      }
    }
    List<SampledFlow> examples = wrong.subList(0, Math.min(wrong.size(), MOST_EXAMPLES));
    List<SampledRange> busiest =
        ranges.values().stream()
            .sorted(Comparator.comparingInt(SampledRange::flows).reversed())
            .limit(MOST_RANGES)
            .toList();
    return new FlowSample(Instant.now(), judged, wrong.size(), lost, busiest, examples);
  }
}
