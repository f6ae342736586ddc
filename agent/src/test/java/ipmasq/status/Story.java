package ipmasq.status;

import static java.nio.charset.StandardCharsets.UTF_8;

import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.config.Config;
import ipmasq.config.FileSnapshot;
import ipmasq.config.Problem;
import ipmasq.config.Reading;
import ipmasq.evidence.flows.FlowEvidence;
import ipmasq.evidence.flows.FlowSample;
import ipmasq.evidence.flows.SampledFlow;
import ipmasq.evidence.neighbours.Conflict;
import ipmasq.evidence.neighbours.Explanation;
import ipmasq.evidence.neighbours.Neighbours;
import ipmasq.evidence.neighbours.Question;
import ipmasq.http.Response;
import ipmasq.log.Log;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.plan.Change;
import ipmasq.plan.Observed;
import ipmasq.plan.Tally;
import ipmasq.plan.Tally.Counter;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.sync.EffectiveConfig;
import ipmasq.sync.Heartbeat;
import ipmasq.sync.Sweep;
import ipmasq.sync.SyncLogger;
import ipmasq.sync.SyncReport;
import ipmasq.sync.SyncReport.Basis;
import ipmasq.sync.SyncReport.Result;
import ipmasq.sync.Trigger;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.Function;
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

  final Log log =
      new Log(_ -> {}, ((InstantSource) this::now).withZone(ZoneOffset.UTC), Log.Format.TEXT, 0);
  final StatusTracker tracker;
  private final SyncLogger logger = new SyncLogger(log);
  boolean fighting;
  final Heartbeat heartbeat = new Heartbeat(this::nanos, Optional::empty);
  Config config = Config.defaults();
  private Basis basis = Basis.FILE;
  private List<Problem> problems = List.of();
  private Reading.Gap gap = Reading.Gap.NONE;
  private int seconds;

  /** What the counters show: for the n-th range, and for all packets of a treatment. */
  volatile IntToLongFunction flowsOf = n -> n + 1;

  volatile long exempted = 9;
  volatile long translated = 7;

  Story() {
    this(new Status.Agent.Running());
  }

  Story(Status.Agent agent) {
    Status.Identity identity =
        new Status.Identity("1.2.3", Optional.of("node-a"), Optional.of(START), agent);
    tracker = new StatusTracker(identity, log::recent);
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

  Story lacking(int keys, String phrase) {
    gap = new Reading.Gap(keys, phrase);
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
    SyncReport report =
        new SyncReport(
            now(),
            Duration.ofMillis(30),
            Set.of(why),
            new EffectiveConfig(
                config,
                basis,
                List.of(FileSnapshot.of(FILE, "pin: true\n".getBytes(UTF_8))),
                problems,
                Map.of(),
                gap),
            "iptables-nft",
            "the default",
            fighting,
            results,
            new Sweep(List.of()),
            0,
            List.of());
    logger.accept(report);
    tracker.accept(report);
    heartbeat.beat(Duration.ofHours(1));
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
    return new Result.Changed(List.of(new Change(Change.Kind.REPAIR, what)));
  }

  static Result changed(String... what) {
    return new Result.Changed(
        Arrays.stream(what).map(w -> new Change(Change.Kind.ADD, w)).toList());
  }

  Status status() {
    return tracker.status().orElseThrow();
  }

  /** What the kernel would show: the policy as it should be, with counters 1, 2, 3… */
  Observation look(SyncReport pass, Family family) {
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

  /** A rule of flannel's overrides the config, unless all is quiet. */
  Optional<List<Conflict>> conflicts(SyncReport pass) {
    return Optional.of(quiet ? List.of() : List.of(conflict));
  }

  /** By the config alone, on the thread that asks. */
  Optional<Future<Response>> explain(Question question, Function<Explanation, Response> print) {
    SyncReport last = status().last();
    Optional<Policy> policy =
        last.config().enables(question.family())
            ? Optional.of(last.policy(question.family()))
            : Optional.empty();
    Explanation found = Neighbours.byConfig(question, policy);
    return Optional.of(CompletableFuture.completedFuture(print.apply(found)));
  }

  Conflict conflict = HeadlineTest.conflict(Conflict.Kind.MASQUERADES);

  /** Whether nobody else is at the hook. */
  boolean quiet = true;

  KernelSampler sampler() {
    return new KernelSampler(this::look, this::conflicts, this::now, this::nanos);
  }

  /** With what the kernel would show. */
  Status read() {
    return status().with(sampler().read(status()), Optional.empty(), now());
  }
}
