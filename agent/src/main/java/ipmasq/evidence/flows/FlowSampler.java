package ipmasq.evidence.flows;

import ipmasq.evidence.flows.Answers.Outcome;
import ipmasq.evidence.flows.FlowJudge.Judgement;
import ipmasq.evidence.flows.FlowJudge.OwnAddresses;
import ipmasq.netlink.Answer;
import ipmasq.netlink.Events;
import ipmasq.netlink.NetlinkSocket.Received;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.conntrack.Conntrack;
import ipmasq.netlink.conntrack.Flow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The new flows of a short period, in small steps: listens, and judges them some seconds later.
 * Used by one thread.
 */
public final class FlowSampler implements AutoCloseable {
  /** New flows cost the kernel more while somebody listens. */
  private static final int MOST_FLOWS = 2_000;

  private static final int MOST_ASKED = 500;
  private static final int MOST_EXAMPLES = 5;
  private static final Duration STEP = Duration.ofMillis(20);
  private static final Path EVENTS = Path.of("/proc/sys/net/netfilter/nf_conntrack_events");

  private final Events<Flow> events;
  private final List<Heard> heard = new ArrayList<>();
  private boolean lost;

  private record Heard(Flow kernel, SampledFlow flow) {
    boolean isToService() {
      return !kernel.original().destination().equals(kernel.reply().source())
          || kernel.original().destinationPort() != kernel.reply().sourcePort();
    }
  }

  private FlowSampler(Events<Flow> events) {
    this.events = events;
  }

  /** It could not listen, or no longer; the message is a phrase. */
  public static final class Impossible extends Exception {
    private static final long serialVersionUID = 1;

    Impossible(String why) {
      super("no evidence: " + why);
    }
  }

  /** Begins to listen. */
  public static FlowSampler open() throws Impossible {
    try {
      if (Files.readString(EVENTS).strip().equals("0")) {
        throw new Impossible(
            "the kernel reports no flows (sysctl net.netfilter.nf_conntrack_events=0)");
      }
    } catch (IOException unknown) {
      // Then there may be none, and none is reported.
    }
    try {
      return new FlowSampler(Conntrack.began(MOST_FLOWS));
    } catch (NetlinkUnavailable refused) {
      throw new Impossible("conntrack: " + refused.getMessage());
    }
  }

  /** Takes what has come so far; false: that is enough. */
  public boolean hear() throws Impossible {
    switch (events.receive(STEP, MOST_FLOWS - heard.size(), this::add)) {
      case Answer.Failed<Received>(var failure) -> throw new Impossible("conntrack: " + failure);
      case Answer.Given<Received>(var received) -> lost |= received.lost();
    }
    return heard.size() < MOST_FLOWS;
  }

  private void add(Flow flow) {
    if (flow.isDecidedByNatRules()) {
      heard.add(new Heard(flow, SampledFlow.leaving(flow, Instant.now())));
    }
  }

  /** Ends listening; what was heard can still be judged. */
  @Override
  public void close() {
    events.close();
  }

  /**
   * Judges what was heard. Whether flows to a Service go as the config says is left open, because
   * others decide about them too; whether they are answered is not.
   *
   * @param answers gets what became of them
   */
  public FlowSample judge(FlowJudge judge, OwnAddresses node, Answers answers) throws Impossible {
    int judged = 0;
    int wrong = 0;
    List<SampledFlow> examples = new ArrayList<>();
    try (KernelRoutes routes = KernelRoutes.open();
        Conntrack conntrack = Conntrack.open()) {
      int asked = 0;
      for (Heard each : heard) {
        SampledFlow flow = each.flow;
        if (flow.port() != 0 && asked < MOST_ASKED && judge.isLeavingPod(flow, node, routes)) {
          asked++;
          outcome(conntrack, each.kernel).ifPresent(outcome -> answers.add(flow, outcome));
        }
        switch (each.isToService() ? Judgement.LEFT_OUT : judge.of(flow, node, routes)) {
          case AS_CONFIG -> {
            judged++;
            answers.add(flow, Outcome.AS_CONFIG);
          }
          case AGAINST_CONFIG -> {
            judged++;
            wrong++;
            answers.add(flow, Outcome.AGAINST_CONFIG);
            if (examples.size() < MOST_EXAMPLES) {
              examples.add(flow);
            }
          }
          case LEFT_OUT -> {}
        }
      }
    } catch (NetlinkUnavailable refused) {
      throw new Impossible("conntrack: " + refused.getMessage());
    }
    return new FlowSample(
        Instant.now(), judged, wrong, lost, AnsweredRange.of(answers, judge), examples);
  }

  private static Optional<Outcome> outcome(Conntrack conntrack, Flow began) {
    return switch (conntrack.find(began.original())) {
      case Answer.Failed<Optional<Flow>> _ -> Optional.empty();
      case Answer.Given<Optional<Flow>>(var now) ->
          Optional.of(
              now.map(flow -> flow.hasSeenReply() ? Outcome.ANSWERED : Outcome.SILENT)
                  .orElse(Outcome.GONE));
    };
  }
}
