package ipmasq.status;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.config.Config;
import ipmasq.config.Key;
import ipmasq.hook.Conflict;
import ipmasq.hook.Owner;
import ipmasq.loop.Pass.Basis;
import ipmasq.loop.Pass.Result;
import ipmasq.loop.Trigger;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.plan.Counter;
import ipmasq.plan.Tally;
import ipmasq.policy.Policy;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The sentences that an on-call engineer reads first. */
class StateTest {
  private final Story story = new Story();

  @Test
  void allIsWell() {
    story.pass(Trigger.START, Story.unchanged());
    assertState(
        "good true IPv4 masquerading is in force, as /etc/config/ip-masq-agent says.",
        State.of(status(), List.of(), List.of()));
  }

  @Test
  void theFileIsBad() {
    story.pass(Trigger.START, Story.unchanged());
    story.bad(Basis.LAST_GOOD).pass(Trigger.CONFIG, Story.unchanged());
    assertState(
        "bad false Not ready: the config file is bad, so the last good one stays in force.",
        State.of(status(), List.of(), List.of()));
  }

  @Test
  void aForeignRuleDecides() {
    story.pass(Trigger.START, Story.unchanged());
    assertState(
        "bad false IPv4 masquerading is set up as /etc/config/ip-masq-agent says, but a rule of"
            + " flannel masquerades packets from 10.244.0.0/16 that the config exempts (to"
            + " 10.0.0.0/8).",
        State.of(status(), List.of(), List.of(conflict(Conflict.ConflictKind.MASQUERADES))));
  }

  @Test
  void rulesThatAreGoneAreNotInForce() {
    story.configured(story.config.with(Key.ENABLE_IPV6, true));
    story.pass(Trigger.START, Story.unchanged());
    String lost =
        "bad false IPv4 and IPv6 masquerading was set up as /etc/config/ip-masq-agent says, but the"
            + " %s rules in the kernel are no longer what it asks for.";
    assertEquals(true, story.view().state().ok());
    assertState(lost.formatted("IPv6"), read(Optional.empty(), story.now()).state());
    Policy fewer = Config.defaults().policy(Family.IPV6);
    assertState(
        lost.formatted("IPv6"),
        read(
                Optional.of(
                    new Policy(Family.IPV6, List.of(), List.of(), List.of(), fewer.translation())),
                story.now())
            .state());
    List<Family> both = List.of(Family.IPV4, Family.IPV6);
    assertState(lost.formatted("IPv4 and IPv6"), State.of(status(), both, List.of()));
    // Read before the pass that put them back.
    assertEquals(true, read(Optional.empty(), story.now().minusMillis(1)).state().ok());
  }

  /** IPv4 as it should be, and this for IPv6. */
  private View read(Optional<Policy> policy, Instant at) {
    View view = story.view();
    Map<Family, Observation> seen = new EnumMap<>(view.sample().families());
    Tally none = new Tally(Map.of(), Counter.NONE, Counter.NONE);
    seen.put(Family.IPV6, new Observation.Seen(Story.observed(Family.IPV6, policy, none)));
    return new View(view.status(), new CounterSampler.Sample(at, seen, Map.of()), story.now());
  }

  @Test
  void inAFightThatIsWhatIsSaid() {
    story.fighting = true;
    story.pass(Trigger.RULES, Story.changed("10.0.0.0/8"));
    State fought = State.of(status(), List.of(), List.of());
    assertEquals(fought, State.of(status(), List.of(Family.IPV4), List.of()));
  }

  @Test
  void aForeignRuleMayDecide() {
    story.pass(Trigger.START, Story.unchanged());
    assertState(
        "warn true IPv4 masquerading is in force, as /etc/config/ip-masq-agent says; but a rule of"
            + " flannel may masquerade packets from 10.244.0.0/16 that the config exempts (to"
            + " 10.0.0.0/8); whether it does cannot be told from here.",
        State.of(status(), List.of(), List.of(conflict(Conflict.ConflictKind.UNCLEAR))));
  }

  @Test
  void liveFlowsGoWrongAndNoRuleTellsWhy() {
    story.pass(Trigger.START, Story.unchanged()).flows(40, 1);
    assertState(
        "good true IPv4 masquerading is in force, as /etc/config/ip-masq-agent says.",
        State.of(status(), List.of(), List.of()));
    story.flows(10, 2);
    assertState(
        "bad false IPv4 masquerading is set up as /etc/config/ip-masq-agent says, but live flows"
            + " went against it: 10.244.1.10 to 10.9.9.9 (udp 53) left as 198.51.100.1 (3 of 50"
            + " sampled).",
        State.of(status(), List.of(), List.of(conflict(Conflict.ConflictKind.UNCLEAR))));
    assertEquals(true, status().ready());
  }

  @Test
  void anotherRuntimesOwnNetworkIsNoMatterOfPods() {
    story.pass(Trigger.START, Story.unchanged());
    assertEquals(
        State.of(status(), List.of(), List.of()),
        State.of(status(), List.of(), List.of(conflict(Conflict.ConflictKind.ELSEWHERE))));
  }

  @Test
  void itIsFoughtOver() {
    story.fighting = true;
    story.pass(Trigger.RULES, Story.changed("10.0.0.0/8"));
    assertState(
        "warn false IPv4 masquerading is set up as /etc/config/ip-masq-agent says, but another"
            + " program has lately changed the rules again and again: each time they were repaired,"
            + " two seconds later at most.",
        State.of(status(), List.of(), List.of()));
  }

  @Test
  void nobodyRuns() {
    assertKept(
        new Keeper.Nobody(),
        "bad false No agent runs here. The rules are what /etc/config/ip-masq-agent asks for, but"
            + " nothing keeps them that way.",
        "bad false No agent runs here. Nothing repairs this: the IPv4 rules are not in force.");
  }

  @Test
  void anotherProgramRuns() {
    assertKept(
        new Keeper.OtherProgram(42),
        "warn false Another ip-masq-agent runs here (process 42), not this one; the rules are what"
            + " /etc/config/ip-masq-agent asks for, and whether it leaves them that way is not"
            + " known.",
        "bad false Another ip-masq-agent runs here (process 42), not this one, and nothing of ours"
            + " repairs this: the IPv4 rules are not in force.");
  }

  @Test
  void itDoesNotAnswer() {
    assertKept(
        new Keeper.Silent(42, "Connection refused"),
        "warn false The agent (process 42) does not answer (Connection refused), so perhaps nobody"
            + " repairs the rules; at the moment they are what /etc/config/ip-masq-agent asks for.",
        "bad false The agent (process 42) does not answer (Connection refused), so perhaps nobody"
            + " repairs this: the IPv4 rules are not in force.");
  }

  @Test
  void itOnlyLooks() {
    assertKept(
        new Keeper.DryRun(),
        "warn false Dry run: the rules are what /etc/config/ip-masq-agent asks for; this agent"
            + " writes nothing.",
        "bad false Not ready: the IPv4 rules are not in force.");
  }

  @Test
  void theRulesCannotBeRead() {
    story.pass(
        Trigger.START, new Result.Failed(new Failure("iptables said: use 'nft'.", "do so"), true));
    assertState(
        "bad false Not ready: the IPv4 rules cannot be read: iptables said: use 'nft'.",
        State.of(status(), List.of(), List.of()));
    assertEquals(List.of("iptables said: use 'nft'.: do so"), status().causes());
  }

  private static void assertKept(Keeper keeper, String good, String failed) {
    Story kept = new Story(keeper).pass(Trigger.START, Story.unchanged());
    assertState(good, State.of(kept.status(), List.of(), List.of()));
    kept.pass(Trigger.RULES, Story.failed());
    assertState(failed, State.of(kept.status(), List.of(), List.of()));
  }

  private Status status() {
    return story.status();
  }

  private static void assertState(String expected, State state) {
    assertEquals(expected, state.level() + " " + state.ok() + " " + state.sentence());
  }

  static Conflict conflict(Conflict.ConflictKind kind) {
    return new Conflict(
        Family.IPV4,
        kind,
        Owner.FLANNEL,
        "-s 10.244.0.0/16 -j MASQUERADE",
        "iptables-nft POSTROUTING",
        "packets from 10.244.0.0/16",
        List.of(Cidr.of("10.0.0.0/8")),
        1);
  }
}
