package ipmasq.evidence.trace;

import ipmasq.evidence.trace.TracedFlow.Step;
import ipmasq.net.Ip;
import ipmasq.netlink.Answer;
import ipmasq.netlink.Events;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.conntrack.Conntrack;
import ipmasq.netlink.conntrack.Flow;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.Statement.Verdict;
import ipmasq.netlink.nftables.Trace;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Waits for new flows and tells what happened to them. Used by one thread. */
public final class FlowTrace {
  private static final int MOST_FLOWS = 10;
  private static final int MOST_STEPS = 4_000;
  private static final int ROOM = 2_000;
  private static final Duration STEP = Duration.ofMillis(100);

  /** Time for an answer. */
  private static final Duration PATIENCE = Duration.ofSeconds(3);

  private final TraceRequest request;
  private final Map<Key, Began> flows = new LinkedHashMap<>();
  private final Map<Integer, Began> packets = new HashMap<>();

  /** What a flow keeps whatever NAT does to its destination. */
  private record Key(int protocol, Ip source, int sourcePort) {}

  /** What is known of a flow: what connection tracking says, and the steps of its first packet. */
  private static final class Began {
    private final Ip destination;
    private final int port;
    private final List<Trace> steps = new ArrayList<>();
    private @Nullable Flow tracked;

    Began(Ip destination, int port) {
      this.destination = destination;
      this.port = port;
    }
  }

  private FlowTrace(TraceRequest request) {
    this.request = request;
  }

  /**
   * The result.
   *
   * @param untraced why only the outcome is known, not the rules; empty if they are
   */
  public record Traced(List<TracedFlow> flows, Optional<String> untraced) {}

  /**
   * Waits for flows.
   *
   * @param legacy whether the kernel has tables of iptables-legacy, which would write what is
   *     traced to the kernel's log
   */
  public static Traced run(TraceRequest request, Duration time, boolean legacy, RuleTexts texts)
      throws NetlinkUnavailable {
    FlowTrace trace = new FlowTrace(request);
    // It listens before there is a table, so that it hears of each flow that the table marks.
    try (Events<Flow> began = Conntrack.began(ROOM)) {
      if (legacy) {
        return trace.outcomes(
            began,
            time,
            "there are iptables-legacy tables, which would write each step to the kernel's log");
      }
      try (Events<Trace> events = Trace.listen(ROOM);
          TraceTable table = TraceTable.open(request)) {
        Runnable receive = () -> events.receive(STEP, MOST_STEPS, trace::add);
        trace.listen(began, time, receive);
        receive.run(); // the steps of the flows that were heard of last
        boolean traced = trace.flows.values().stream().anyMatch(flow -> !flow.steps.isEmpty());
        trace.flows.values().removeIf(flow -> traced && flow.steps.isEmpty());
        return new Traced(trace.results(steps -> describe(steps, table, texts)), Optional.empty());
      } catch (TraceTable.Refused refused) {
        return trace.outcomes(began, time, String.valueOf(refused.getMessage()));
      }
    }
  }

  private Traced outcomes(Events<Flow> began, Duration time, String untraced)
      throws NetlinkUnavailable {
    listen(began, time, () -> {});
    return new Traced(results(_ -> List.of()), Optional.of(untraced));
  }

  private void listen(Events<Flow> began, Duration time, Runnable receive) {
    long end = System.nanoTime() + time.toNanos();
    while (System.nanoTime() - end < 0 && flows.size() < MOST_FLOWS) {
      receive.run();
      began.receive(STEP, ROOM, this::add);
    }
  }

  private void add(Flow flow) {
    if (request.covers(flow)) {
      Ip source = Ip.ofBytes(flow.original().source().bytes());
      Began began =
          began(
              new Key(flow.original().protocol(), source, flow.original().sourcePort()),
              Ip.ofBytes(flow.original().destination().bytes()),
              flow.original().destinationPort());
      if (began != null) {
        began.tracked = flow;
      }
    }
  }

  private @Nullable Began began(Key key, Ip destination, int port) {
    if (!flows.containsKey(key) && flows.size() < MOST_FLOWS) {
      flows.put(key, new Began(destination, port));
    }
    return flows.get(key);
  }

  /** Only a rule of our own begins a flow here: others may trace packets of theirs. */
  private void add(Trace step) {
    if (step.table().equals(TraceTable.NAME) && step.rule() != 0) {
      step.headers().map(this::began).ifPresent(began -> packets.put(step.packet(), began));
    } else if (packets.containsKey(step.packet()) && !step.table().startsWith(TraceTable.PREFIX)) {
      packets.get(step.packet()).steps.add(step);
    }
  }

  /** Reads the beginning of both headers. */
  private @Nullable Began began(Trace.Headers headers) {
    byte[] ip = headers.network().bytes();
    boolean v4 = ip[0] >> 4 == 4;
    int size = v4 ? 4 : 16;
    int source = v4 ? 12 : 8;
    int protocol = ip[v4 ? 9 : 6] & 0xff;
    ByteBuffer transport = ByteBuffer.wrap(headers.transport().bytes());
    boolean ports = transport.remaining() >= 4 && protocol != 1 && protocol != 58;
    return began(
        new Key(protocol, slice(ip, source, size), ports ? transport.getChar(0) : 0),
        slice(ip, source + size, size),
        ports ? transport.getChar(2) : 0);
  }

  private static Ip slice(byte[] bytes, int from, int length) {
    return Ip.ofBytes(Arrays.copyOfRange(bytes, from, from + length));
  }

  private interface Describer {
    List<Step> steps(List<Trace> traces);
  }

  private List<TracedFlow> results(Describer describer) throws NetlinkUnavailable {
    if (!askAgain()) {
      LockSupport.parkNanos(PATIENCE.toNanos());
      askAgain();
    }
    List<TracedFlow> results = new ArrayList<>();
    flows.forEach(
        (key, flow) -> {
          Optional<Flow> tracked = Optional.ofNullable(flow.tracked);
          Optional<Ip> leftWith = tracked.map(it -> Ip.ofBytes(it.reply().destination().bytes()));
          List<Step> steps = describer.steps(flow.steps);
          results.add(
              new TracedFlow(
                  key.protocol,
                  key.source,
                  flow.destination,
                  flow.port,
                  leftWith,
                  tracked.filter(Flow::hasSeenReply).isPresent(),
                  steps.reversed().stream()
                      .filter(step -> step.decides(leftWith, key.source))
                      .findFirst(),
                  steps));
        });
    return results;
  }

  /** Looks the flows up as they are now; one that is over stays as it began. Were all answered? */
  private boolean askAgain() throws NetlinkUnavailable {
    boolean all = true;
    try (Conntrack conntrack = Conntrack.open()) {
      for (Began flow : flows.values()) {
        if (flow.tracked != null) {
          if (conntrack.find(flow.tracked.original())
              instanceof Answer.Given<Optional<Flow>>(var now)) {
            flow.tracked = now.orElse(flow.tracked);
          }
          all &= flow.tracked.hasSeenReply();
        }
      }
    }
    return all;
  }

  /** A chain that is no base chain runs at the hook of the base chain before it. */
  private static List<Step> describe(List<Trace> traces, TraceTable table, RuleTexts texts) {
    List<Step> steps = new ArrayList<>();
    Optional<Chain.BaseHook> base = Optional.empty();
    for (Trace each : traces) {
      Optional<Chain.BaseHook> its = table.base(each);
      base = its.isPresent() ? its : base;
      boolean end = each.kind() == Trace.Kind.POLICY;
      if (end || each.rule() != 0) { // otherwise a chain that was left at its end
        steps.add(
            new Step(
                base.map(at -> at.hook().toString()).orElse(""),
                base.filter(at -> at.type().equals("nat")).isPresent(),
                each.family() + " " + each.table(),
                each.chain(),
                each.rule(),
                end
                    ? each.policy().map(it -> it.name().toLowerCase(Locale.ROOT)).orElse("")
                    : each.verdict().map(Verdict::toString).orElse(""),
                texts.of(each, table)));
      }
    }
    return steps;
  }
}
