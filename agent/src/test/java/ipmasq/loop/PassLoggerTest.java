package ipmasq.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.backend.Failure;
import ipmasq.config.Config;
import ipmasq.log.Log;
import ipmasq.loop.Pass.Basis;
import ipmasq.loop.Pass.Result;
import ipmasq.net.Family;
import ipmasq.plan.Change;
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

class PassLoggerTest {
  private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");
  private static final Result JUMP =
      new Result.Changed(
          List.of(new Change(Change.Kind.REPAIR, "the jump from POSTROUTING is missing")));
  private static final Result UNCHANGED = new Result.Unchanged();

  private final List<String> lines = new ArrayList<>();
  private final PassLogger journal =
      new PassLogger(new Log(lines::add, Clock.fixed(NOW, ZoneOffset.UTC), Log.Format.TEXT, 0));

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
        INFO backend fake: a test
        INFO IPv4 rules changed (drift, 3 ms): ~the jump from POSTROUTING is missing
        WARN another program keeps changing our rules, and this was repaired each time: IPv4 ~the jump from POSTROUTING is missing; from now on we wait for some seconds before each repair
        INFO the other program has left our rules alone for a while; they were repaired 2 times meanwhile
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
        INFO backend fake: a test
        ERROR no: wait; tried again until it works
        INFO IPv4 rules are in place again
        """,
        lines());
  }

  private void pass(Trigger why, boolean fighting, Result result) {
    journal.accept(
        new Pass(
            NOW,
            Duration.ofMillis(3),
            Set.of(why),
            new EffectiveConfig(Config.defaults(), Basis.FILE, List.of(), List.of()),
            "fake",
            "a test",
            fighting,
            Map.of(Family.IPV4, result),
            Sweep.NONE,
            0,
            List.of()));
  }

  private String lines() {
    return lines.stream()
        .map(line -> line.replace("2026-01-01T12:00:00.000Z ", "") + "\n")
        .collect(Collectors.joining());
  }
}
