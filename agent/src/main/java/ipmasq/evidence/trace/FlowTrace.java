package ipmasq.evidence.trace;

import ipmasq.evidence.trace.TracedFlow.Step;
import ipmasq.net.ForeignText;
import ipmasq.net.Ip;
import ipmasq.netlink.Answer;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.conntrack.Conntrack;
import ipmasq.netlink.conntrack.Flow;
import ipmasq.netlink.conntrack.NewFlows;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.Statement.Verdict;
import ipmasq.netlink.nftables.Trace;
import ipmasq.netlink.nftables.Traces;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
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
  private final Map<Key, Flow> flows = new LinkedHashMap<>();
  private final Map<Integer, Key> packets = new LinkedHashMap<>();
  private final Map<Key, List<Trace>> steps = new LinkedHashMap<>();
  private final Map<Key, Ends> ends = new LinkedHashMap<>();

  /** What a flow keeps whatever NAT does to its destination. */
  private record Key(int protocol, Ip source, int sourcePort) {}

  private record Ends(Ip destination, int port) {}

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
    if (legacy) {
      return trace.outcomes(
          time,
          "there are iptables-legacy tables, which would write each step to the kernel's log");
    }
    try (Traces events = Traces.open(ROOM);
        TraceTable table = TraceTable.open(request)) {
      trace.listen(time, Optional.of(events));
      return new Traced(trace.results(new Described(table, texts)), Optional.empty());
    } catch (TraceTable.Refused refused) {
      return trace.outcomes(time, String.valueOf(refused.getMessage()));
    }
  }

  private Traced outcomes(Duration time, String untraced) throws NetlinkUnavailable {
    listen(time, Optional.empty());
    return new Traced(results(null), Optional.of(untraced));
  }

  private void listen(Duration time, Optional<Traces> events) throws NetlinkUnavailable {
    long end = System.nanoTime() + time.toNanos();
    try (NewFlows started = NewFlows.open(ROOM)) {
      while (System.nanoTime() - end < 0 && flows.size() < MOST_FLOWS) {
        events.ifPresent(traces -> traces.receive(STEP, MOST_STEPS, this::add));
        started.receive(STEP, ROOM, this::add);
      }
    }
  }

  private void add(Flow flow) {
    if (request.covers(flow) && flows.size() < MOST_FLOWS) {
      flows.putIfAbsent(
          new Key(
              flow.original().protocol(),
              Ip.ofBytes(flow.original().source().bytes()),
              flow.original().sourcePort()),
          flow);
    }
  }

  private void add(Trace step) {
    Key key = packets.get(step.packet());
    if (key == null && step.headers().isPresent()) {
      key = key(step.headers().get());
      packets.put(step.packet(), key);
    }
    if (key != null && !step.table().startsWith(TraceTable.PREFIX)) {
      steps.computeIfAbsent(key, _ -> new ArrayList<>()).add(step);
    }
  }

  /** Reads the beginning of both headers. */
  private Key key(Trace.Headers headers) {
    byte[] ip = headers.network().bytes();
    boolean v4 = ip[0] >> 4 == 4;
    int size = v4 ? 4 : 16;
    int source = v4 ? 12 : 8;
    ByteBuffer transport = ByteBuffer.wrap(headers.transport().bytes());
    boolean ports = transport.remaining() >= 4;
    int protocol = ip[v4 ? 9 : 6] & 0xff;
    boolean icmp = protocol == 1 || protocol == 58;
    Key key = new Key(protocol, slice(ip, source, size), ports && !icmp ? transport.getChar(0) : 0);
    ends.put(
        key, new Ends(slice(ip, source + size, size), ports && !icmp ? transport.getChar(2) : 0));
    return key;
  }

  private static Ip slice(byte[] bytes, int from, int length) {
    return Ip.ofBytes(Arrays.copyOfRange(bytes, from, from + length));
  }

  private List<TracedFlow> results(@Nullable Described described) throws NetlinkUnavailable {
    Map<Key, Flow> latest = latest();
    if (latest.values().stream().anyMatch(flow -> !flow.hasSeenReply())) {
      LockSupport.parkNanos(PATIENCE.toNanos());
      latest = latest();
    }
    List<TracedFlow> results = new ArrayList<>();
    for (Map.Entry<Key, Flow> entry : latest.entrySet()) {
      Flow flow = entry.getValue();
      Ip source = entry.getKey().source;
      Ip leftWith = Ip.ofBytes(flow.reply().destination().bytes());
      List<Step> its = describe(described, steps.getOrDefault(entry.getKey(), List.of()));
      results.add(
          new TracedFlow(
              flow.original().protocol(),
              source,
              flow.original().sourcePort(),
              Ip.ofBytes(flow.original().destination().bytes()),
              flow.original().destinationPort(),
              Optional.of(leftWith),
              flow.hasSeenReply(),
              decider(its, !leftWith.equals(source)),
              its));
    }
    for (Map.Entry<Key, List<Trace>> entry : steps.entrySet()) {
      Key key = entry.getKey();
      Ends to = ends.get(key);
      if (!latest.containsKey(key) && to != null && results.size() < MOST_FLOWS) {
        List<Step> all = describe(described, entry.getValue());
        results.add(
            new TracedFlow(
                key.protocol,
                key.source,
                key.sourcePort,
                to.destination,
                to.port,
                Optional.empty(),
                false,
                dropper(all),
                all));
      }
    }
    return results;
  }

  /** The flows as they are now; one that is over, as it began. */
  private Map<Key, Flow> latest() throws NetlinkUnavailable {
    Map<Key, Flow> latest = new LinkedHashMap<>();
    try (Conntrack conntrack = Conntrack.open()) {
      flows.forEach(
          (key, flow) ->
              latest.put(
                  key,
                  conntrack.find(flow.original()) instanceof Answer.Given<Optional<Flow>>(var now)
                      ? now.orElse(flow)
                      : flow));
    }
    return latest;
  }

  private static List<Step> describe(@Nullable Described described, List<Trace> traces) {
    return described == null ? List.of() : described.steps(traces);
  }

  /** The rule that gave the flow its source, or the last that left it alone. */
  private static Optional<Step> decider(List<Step> steps, boolean translated) {
    return steps.reversed().stream()
        .filter(Step::isAtNatPostrouting)
        .filter(step -> step.handle() != 0)
        .filter(
            step ->
                step.verdict().equals("accept") || !translated && step.verdict().equals("return"))
        .findFirst();
  }

  private static Optional<Step> dropper(List<Step> steps) {
    return steps.reversed().stream().filter(step -> step.verdict().equals("drop")).findFirst();
  }

  /** Finds names for what the kernel numbers. */
  private static final class Described {
    private final TraceTable table;
    private final List<Chain> bases;
    private final RuleTexts texts;

    Described(TraceTable table, RuleTexts texts) {
      this.table = table;
      this.bases = table.baseChains();
      this.texts = texts;
    }

    /** A chain that is no base chain runs at the hook of the base chain before it. */
    List<Step> steps(List<Trace> traces) {
      List<Step> steps = new ArrayList<>();
      Optional<Chain> base = Optional.empty();
      for (Trace each : traces) {
        base = base(each).isPresent() ? base(each) : base;
        Optional<Chain.BaseHook> hook = base.flatMap(Chain::base);
        String verdict =
            each.kind() == Trace.Kind.POLICY
                ? each.policy().map(policy -> policy.name().toLowerCase(Locale.ROOT)).orElse("")
                : each.verdict().map(Verdict::toString).orElse("");
        if (each.rule() == 0 && each.kind() != Trace.Kind.POLICY) {
          continue; // a chain that was left at its end
        }
        steps.add(
            new Step(
                hook.map(h -> h.hook().toString()).orElse(""),
                hook.filter(h -> h.type().equals("nat")).isPresent(),
                each.family() + " " + each.table(),
                each.chain(),
                each.rule(),
                verdict,
                each.rule() == 0
                    ? new ForeignText("")
                    : texts.of(each.family(), each.table(), each.chain(), each.rule(), table)));
      }
      return steps;
    }

    private Optional<Chain> base(Trace step) {
      return bases.stream()
          .filter(
              chain ->
                  chain.family() == step.family()
                      && chain.table().equals(step.table())
                      && chain.name().equals(step.chain()))
          .findFirst();
    }
  }
}
