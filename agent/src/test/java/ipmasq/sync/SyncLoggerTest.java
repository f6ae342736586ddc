package ipmasq.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.backend.Failure;
import ipmasq.config.Config;
import ipmasq.config.Problem;
import ipmasq.log.Log;
import ipmasq.net.Family;
import ipmasq.output.OutputSchema;
import ipmasq.plan.Change;
import ipmasq.sync.SyncReport.Basis;
import ipmasq.sync.SyncReport.Result;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class SyncLoggerTest {
  private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");
  private static final Result JUMP =
      new Result.Changed(
          List.of(new Change(Change.Kind.REPAIR, "the jump from POSTROUTING is missing")));
  private static final Result UNCHANGED = new Result.Unchanged();

  private final List<String> lines = new ArrayList<>();
  private SyncLogger journal = journal(Log.Format.TEXT, 0);

  private SyncLogger journal(Log.Format format, int verbosity) {
    return new SyncLogger(new Log(lines::add, Clock.fixed(NOW, ZoneOffset.UTC), format, verbosity));
  }

  @Test
  void aFightIsToldOnceWithWhatItIsAbout() {
    pass(Trigger.START, false, UNCHANGED);
    pass(Trigger.RULES, false, JUMP);
    pass(Trigger.RULES, true, JUMP);
    pass(Trigger.RULES, true, JUMP);
    pass(Trigger.RESYNC, false, UNCHANGED);
    pass(Trigger.RESYNC, false, UNCHANGED);
    assertEquals(
        """
        INFO backend nftables: a test
        INFO in force: IPv4 with 3 ranges, nftables, from the defaults
        INFO IPv4 rules changed (drift, 3 ms): 1 repaired: ~the jump from POSTROUTING is missing
        WARN another program keeps changing our rules; the last repair: IPv4 1 repaired: ~the jump from POSTROUTING is missing; from now on a repair waits up to 2 s
        INFO the other program has left our rules alone for a while; they were repaired 2 times meanwhile
        """,
        lines());
  }

  /** A Go agent that writes its chain again and again beside a table of ours. */
  @Test
  void aFightOverWhatIsSweptNamesIt() {
    Sweep swept =
        new Sweep(
            List.of(
                new Sweep.Swept(
                    "iptables-nft",
                    Family.IPV4,
                    new Result.Changed(List.of(new Change(Change.Kind.REMOVE, "all"))))));
    EffectiveConfig good = new EffectiveConfig(Config.defaults(), Basis.FILE, List.of(), List.of());
    pass(Trigger.START, false, UNCHANGED);
    for (boolean fighting : List.of(false, true, true)) {
      journal.accept(pass(Set.of(Trigger.RULES), good, fighting, UNCHANGED, swept, 0, List.of()));
    }
    pass(Trigger.RESYNC, false, UNCHANGED);
    assertEquals(
        """
        INFO backend nftables: a test
        INFO in force: IPv4 with 3 ranges, nftables, from the defaults
        INFO IPv4 rules of ours in iptables-nft removed (drift): 1 removed: -all
        WARN another program keeps changing our rules; the last repair: IPv4 rules of ours in iptables-nft removed: 1 removed: -all; from now on a repair waits up to 2 s
        INFO the other program has left our rules alone for a while; they were repaired 2 times meanwhile
        """,
        lines());
  }

  @Test
  void whatADryRunWouldSweepIsToldOnce() {
    Result pending = new Result.Pending(List.of(new Change(Change.Kind.REMOVE, "all")));
    Sweep sweep = new Sweep(List.of(new Sweep.Swept("iptables-nft", Family.IPV4, pending)));
    EffectiveConfig good = new EffectiveConfig(Config.defaults(), Basis.FILE, List.of(), List.of());
    for (Trigger why : List.of(Trigger.START, Trigger.RESYNC, Trigger.RESYNC)) {
      journal.accept(pass(Set.of(why), good, false, UNCHANGED, sweep, 0, List.of()));
    }
    assertEquals(
        """
        INFO backend nftables: a test
        INFO IPv4 rules of ours in iptables-nft would be removed: 1 removed: -all
        """,
        lines());
  }

  @Test
  void aFailureIsToldOnceAndItsEnd() {
    Result failed = new Result.Failed(new Failure("no", "wait"));
    pass(Trigger.START, false, failed);
    pass(Trigger.RETRY, false, failed);
    pass(Trigger.RETRY, false, UNCHANGED);
    assertEquals(
        """
        INFO backend nftables: a test
        ERROR no: wait; tried again until it works
        INFO IPv4 rules are in place again
        INFO in force: IPv4 with 3 ranges, nftables, from the defaults
        """,
        lines());
  }

  /** Each line of JSON has what happened and its parts; what people read is the message. */
  @Test
  void jsonHasTheParts() {
    journal = journal(Log.Format.JSON, 2);
    Problem problem =
        new Problem(Problem.Severity.ERROR, "/etc/config/ip-masq-agent", 2, 5, "wrong", "do so");
    EffectiveConfig good = new EffectiveConfig(Config.defaults(), Basis.FILE, List.of(), List.of());
    EffectiveConfig bad =
        new EffectiveConfig(Config.defaults(), Basis.LAST_GOOD, List.of(), List.of(problem));
    Failure failure = new Failure("the kernel refuses", "ask it why");
    Result changed =
        new Result.Changed(
            List.of(
                new Change(Change.Kind.ADD, "10.1.0.0/16"),
                new Change(Change.Kind.ADD, "10.2.0.0/16"),
                new Change(Change.Kind.REMOVE, "10.3.0.0/16")));
    Sweep swept =
        new Sweep(
            List.of(
                new Sweep.Swept(
                    "iptables-nft",
                    Family.IPV6,
                    new Result.Changed(List.of(new Change(Change.Kind.REMOVE, "all"))))));
    Sweep stuck =
        new Sweep(
            List.of(new Sweep.Swept("iptables-nft", Family.IPV6, new Result.Failed(failure))));
    journal.accept(
        pass(Set.of(Trigger.START), good, false, changed, swept, 3, List.of("an odd node")));
    journal.accept(
        pass(
            Set.of(Trigger.RULES, Trigger.CONFIG),
            bad,
            true,
            new Result.Failed(failure),
            stuck,
            0,
            List.of()));
    journal.accept(pass(Set.of(Trigger.RETRY), good, false, UNCHANGED, Sweep.NONE, 0, List.of()));
    journal.accept(
        pass(
            Set.of(Trigger.RESYNC),
            good,
            false,
            new Result.Pending(List.of(new Change(Change.Kind.ADD, "10.1.0.0/16"))),
            Sweep.NONE,
            0,
            List.of()));
    assertEquals(
        """
        {"level":"INFO","event":"backend","message":"backend nftables: a test","backend":"nftables","backendReason":"a test"}
        {"level":"INFO","event":"rules-changed","message":"IPv4 rules changed (start, 3 ms): 2 added, 1 removed: +10.1.0.0/16 +10.2.0.0/16 -10.3.0.0/16","family":"IPv4","backend":"nftables","added":2,"removed":1,"repaired":0,"trigger":"start","duration":0.003,"changes":[{"family":"IPv4","backend":"nftables","change":"add","what":"10.1.0.0/16"},{"family":"IPv4","backend":"nftables","change":"add","what":"10.2.0.0/16"},{"family":"IPv4","backend":"nftables","change":"remove","what":"10.3.0.0/16"}]}
        {"level":"INFO","event":"swept","message":"IPv6 rules of ours in iptables-nft removed (start): 1 removed: -all","family":"IPv6","backend":"iptables-nft","added":0,"removed":1,"repaired":0,"trigger":"start","duration":0.003,"changes":[{"family":"IPv6","backend":"iptables-nft","change":"remove","what":"all"}]}
        {"level":"INFO","event":"flows","message":"established flows follow the new rules: 3 flows","flows":3}
        {"level":"WARN","event":"node-warning","message":"an odd node"}
        {"level":"INFO","event":"in-force","message":"in force: IPv4 with 3 ranges, nftables, from the defaults","backend":"nftables","basis":"file","ranges":{"IPv4":3},"files":[]}
        {"level":"ERROR","event":"config-problem","message":"/etc/config/ip-masq-agent:2:5: wrong (do so)","problem":{"severity":"error","file":"/etc/config/ip-masq-agent","line":2,"column":5,"message":"wrong","hint":"do so"}}
        {"level":"WARN","event":"config-bad","message":"the config file is bad: the last good one stays in force","basis":"last-good"}
        {"level":"WARN","event":"fight","message":"another program keeps changing our rules; from now on a repair waits up to 2 s","backend":"nftables"}
        {"level":"ERROR","event":"rules-failed","message":"the kernel refuses: ask it why; tried again until it works","family":"IPv4","backend":"nftables","failure":{"family":"IPv4","backend":"nftables","message":"the kernel refuses","advice":"ask it why"}}
        {"level":"ERROR","event":"sweep-failed","message":"IPv6 rules of ours in iptables-nft cannot be removed, and act on packets too: the kernel refuses: ask it why","family":"IPv6","backend":"iptables-nft","failure":{"family":"IPv6","backend":"iptables-nft","message":"the kernel refuses","advice":"ask it why"}}
        {"level":"INFO","event":"config-good","message":"the config file is good again, and in force","basis":"file"}
        {"level":"INFO","event":"fight-over","message":"the other program has left our rules alone for a while; they were repaired 0 times meanwhile","backend":"nftables","repairs":0}
        {"level":"INFO","event":"rules-recovered","message":"IPv4 rules are in place again","family":"IPv4","backend":"nftables"}
        {"level":"INFO","event":"rules-in-place","message":"sync (retry) found everything in place","backend":"nftables","trigger":"retry","duration":0.003}
        {"level":"INFO","event":"rules-pending","message":"IPv4 rules would change (resync): 1 added: +10.1.0.0/16","family":"IPv4","backend":"nftables","added":1,"removed":0,"repaired":0,"trigger":"resync","duration":0.003,"changes":[{"family":"IPv4","backend":"nftables","change":"add","what":"10.1.0.0/16"}]}
        """,
        lines().replace("\"time\":\"2026-01-01T12:00:00.000Z\",", ""));
    lines.forEach(line -> OutputSchema.check("logOutput", line));
  }

  private void pass(Trigger why, boolean fighting, Result result) {
    EffectiveConfig good = new EffectiveConfig(Config.defaults(), Basis.FILE, List.of(), List.of());
    journal.accept(pass(Set.of(why), good, fighting, result, Sweep.NONE, 0, List.of()));
  }

  private static SyncReport pass(
      Set<Trigger> why,
      EffectiveConfig effective,
      boolean fighting,
      Result result,
      Sweep sweep,
      int flows,
      List<String> warnings) {
    return new SyncReport(
        NOW,
        Duration.ofMillis(3),
        why,
        effective,
        "nftables",
        "a test",
        fighting,
        Map.of(Family.IPV4, result),
        sweep,
        flows,
        warnings);
  }

  private String lines() {
    return lines.stream()
        .map(line -> line.replace("2026-01-01T12:00:00.000Z ", "") + "\n")
        .collect(Collectors.joining());
  }
}
