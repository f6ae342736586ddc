package ipmasq.status;

import static java.nio.charset.StandardCharsets.UTF_8;

import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.config.Config;
import ipmasq.config.FileBytes;
import ipmasq.config.Problem;
import ipmasq.config.Reading;
import ipmasq.flows.FlowEvidence;
import ipmasq.flows.FlowSample;
import ipmasq.flows.SampledFlow;
import ipmasq.hook.Action;
import ipmasq.hook.BaseChain;
import ipmasq.hook.Condition;
import ipmasq.hook.Hook;
import ipmasq.hook.NodeLinks;
import ipmasq.hook.Rule;
import ipmasq.loop.EffectiveConfig;
import ipmasq.loop.Heartbeat;
import ipmasq.loop.Pass;
import ipmasq.loop.Pass.Basis;
import ipmasq.loop.Pass.Result;
import ipmasq.loop.Sweep;
import ipmasq.loop.Trigger;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.plan.Change;
import ipmasq.plan.Counter;
import ipmasq.plan.Observed;
import ipmasq.plan.Tally;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntToLongFunction;

/** An agent's life for tests: passes as they would come, a second apart. */
final class Story {
  static final Instant START = Instant.parse("2026-01-01T12:00:00Z");
  static final Path FILE = Path.of("/etc/config/ip-masq-agent");
  static final Problem BAD =
      new Problem(
          Problem.Severity.ERROR,
          FILE.toString(),
          3,
          5,
          "CIDR \"10.0.0.1/8\" is not aligned to a CIDR block",
          "write 10.0.0.0/8");
  static final Failure REFUSED =
      new Failure("iptables-restore failed: <b>Resource</b> \"temporarily\"", "try & wait");

  final StatusTracker tracker;
  boolean fighting;
  final Heartbeat heartbeat = new Heartbeat(this::nanos);
  Config config = Config.defaults();
  private Basis basis = Basis.FILE;
  private List<Problem> problems = List.of();
  private int seconds;

  /** What the counters show: for the n-th range, and for all packets of a treatment. */
  volatile IntToLongFunction flowsOf = n -> n + 1;

  volatile long exempted = 9;
  volatile long translated = 7;

  Story() {
    this(new Keeper.Running());
  }

  Story(Keeper keeper) {
    Identity identity = new Identity("1.2.3", Optional.of("node-a"), Optional.of(START), keeper);
    tracker = new StatusTracker(identity);
    tracker.flows(FlowEvidence.none("none sampled yet"));
  }

  long nanos() {
    return seconds * 1_000_000_000L;
  }

  Instant now() {
    return START.plusSeconds(seconds);
  }

  Story passes(int count) {
    seconds += count;
    return this;
  }

  Story configured(Config newConfig) {
    config = newConfig;
    basis = Basis.FILE;
    problems = List.of();
    return this;
  }

  Story bad(Basis newBasis) {
    basis = newBasis;
    problems = List.of(BAD);
    return this;
  }

  Story good() {
    return configured(config);
  }

  /** One pass with this result for every family that is on. */
  Story pass(Trigger why, Result result) {
    Map<Family, Result> results = new EnumMap<>(Family.class);
    results.put(Family.IPV4, result);
    if (config.enableIpv6()) {
      results.put(Family.IPV6, result);
    }
    return pass(why, results);
  }

  Story pass(Trigger why, Map<Family, Result> results) {
    seconds++;
    tracker.accept(
        new Pass(
            now(),
            Duration.ofMillis(30),
            Set.of(why),
            new EffectiveConfig(
                config,
                basis,
                List.of(
                    new Reading.SourceFile(
                        FILE, Optional.of(new FileBytes("pin: true\n".getBytes(UTF_8))))),
                problems),
            "iptables-nft",
            "the default",
            fighting,
            results,
            new Sweep(List.of()),
            0,
            List.of()));
    return this;
  }

  /** A sample of live flows, so many of which were translated although they are exempt. */
  Story flows(int seen, int wrong) {
    SampledFlow example =
        new SampledFlow(
            now(), Ip.of("10.244.1.10"), Ip.of("10.9.9.9"), Ip.of("198.51.100.1"), 17, 53);
    List<SampledFlow> examples = Collections.nCopies(Math.min(wrong, 5), example);
    tracker.flows(
        status().flows().and(new FlowSample(now(), seen, wrong, false, List.of(), examples)));
    return this;
  }

  static Result unchanged() {
    return new Result.Unchanged();
  }

  static Result failed() {
    return new Result.Failed(REFUSED);
  }

  static Result repaired(String what) {
    return new Result.Changed(List.of(new Change(Change.ChangeKind.REPAIR, what)));
  }

  static Result changed(String... what) {
    return new Result.Changed(
        Arrays.stream(what).map(w -> new Change(Change.ChangeKind.ADD, w)).toList());
  }

  Status status() {
    return tracker.status().orElseThrow();
  }

  /** What the kernel would show: the policy as it should be, with counters 1, 2, 3… */
  Observation look(Pass pass, Family family) {
    return look(pass.config(), family);
  }

  private Observation look(Config wanted, Family family) {
    Policy policy = wanted.policy(family);
    int share = family == Family.IPV4 ? 1 : 3; // there is less of IPv6
    Map<Cidr, Counter> counters = new HashMap<>();
    for (Destination destination : policy.destinations()) {
      long flows = flowsOf.applyAsLong(counters.size()) / share;
      counters.put(destination.range(), new Counter(flows, 60));
    }
    Counter kept = new Counter(exempted / share, 540);
    Tally tally = new Tally(counters, kept, new Counter(translated / share, 420));
    return new Observation.Seen(observed(family, Optional.of(policy), tally));
  }

  static Observed observed(Family family, Optional<Policy> policy, Tally tally) {
    return new Observed() {
      @Override
      public Family family() {
        return family;
      }

      @Override
      public Optional<Policy> policy() {
        return policy;
      }

      @Override
      public List<String> flaws() {
        return List.of();
      }

      @Override
      public boolean absent() {
        return false;
      }

      @Override
      public Optional<Tally> tally() {
        return Optional.of(tally);
      }
    };
  }

  /** A hook with a rule of flannel's behind ours. */
  Optional<HookSample> hook(Pass pass, Family family, Optional<Policy> ours) {
    Rule our = new Rule(List.of(), new Action.Ours(), "-A POSTROUTING -j IP-MASQ-AGENT");
    Rule flannel =
        new Rule(
            List.of(Condition.source(Cidr.of("10.244.0.0/16"))),
            new Action.Translate("MASQUERADE"),
            "-A POSTROUTING -s 10.244.0.0/16 -m comment --comment \"flanneld masq\" -j MASQUERADE");
    BaseChain base =
        new BaseChain(
            "iptables-nft POSTROUTING",
            100,
            "POSTROUTING",
            Map.of("POSTROUTING", quiet ? List.of(our) : List.of(our, flannel)));
    Rule pin = new Rule(List.of(), new Action.Pin(), "our own rules");
    BaseChain pins = new BaseChain("chain pin4", 85, "pin", Map.of("pin", List.of(pin)));
    boolean pinned = ours.filter(Policy::pinned).isPresent();
    Hook hook = new Hook(family, pinned ? List.of(pins, base) : List.of(base), ours);
    return Optional.of(HookSample.of(hook, pass.policy(family), NodeLinks.UNKNOWN));
  }

  /** Whether nobody else is at the hook. */
  boolean quiet = true;

  View view() {
    Map<Family, Observation> seen = new EnumMap<>(Family.class);
    seen.put(Family.IPV4, look(config, Family.IPV4));
    if (config.enableIpv6()) {
      seen.put(Family.IPV6, look(config, Family.IPV6));
    }
    return new View(status(), new CounterSampler.Sample(now(), seen, Map.of()), now());
  }
}
