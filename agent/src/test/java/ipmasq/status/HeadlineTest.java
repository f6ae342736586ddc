package ipmasq.status;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.config.Config;
import ipmasq.config.Key;
import ipmasq.evidence.neighbours.Conflict;
import ipmasq.evidence.neighbours.Owner;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.ForeignText;
import ipmasq.plan.Change;
import ipmasq.plan.Tally;
import ipmasq.plan.Tally.Counter;
import ipmasq.policy.Policy;
import ipmasq.sync.SyncReport.Basis;
import ipmasq.sync.SyncReport.Result;
import ipmasq.sync.Trigger;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The sentences that an on-call engineer reads first. */
class HeadlineTest {
  private static final Result PENDING =
      new Result.Pending(List.of(new Change(Change.Kind.ADD, "10.0.0.0/8")));

  private final Story story = new Story();

  @Test
  void allIsWell() {
    story.pass(Trigger.START, Story.unchanged());
    assertHeadline(
        "good true IPv4 masquerading is in force, as /etc/config/ip-masq-agent says.", story);
  }

  @Test
  void whetherOthersDecideIsNotKnown() {
    story.pass(Trigger.START, Story.unchanged());
    assertHeadline(
        "good true IPv4 masquerading is set up as /etc/config/ip-masq-agent says.",
        story.status().headline());
  }

  @Test
  void theFileIsBad() {
    story.pass(Trigger.START, Story.unchanged());
    story.bad(Basis.LAST_GOOD).pass(Trigger.CONFIG, Story.unchanged());
    assertHeadline(
        "bad false Not ready: the config file is bad, so the last good one stays in force.", story);
  }

  @Test
  void aForeignRuleDecides() {
    story.pass(Trigger.START, Story.unchanged());
    assertHeadline(
        "bad false IPv4 masquerading is set up as /etc/config/ip-masq-agent says, but a rule of"
            + " flannel masquerades packets from 10.244.0.0/16 that the config exempts (to"
            + " 10.0.0.0/8).",
        story,
        conflict(Conflict.Kind.MASQUERADES));
  }

  @Test
  void rulesThatAreGoneAreNotInForce() {
    story.configured(story.config.with(Key.ENABLE_IPV6, true));
    story.pass(Trigger.START, Story.unchanged());
    String lost =
        "bad false IPv4 and IPv6 masquerading was set up as /etc/config/ip-masq-agent says, but the"
            + " IPv6 rules in the kernel are no longer what it asks for.";
    assertTrue(story.read().headline().ok());
    assertHeadline(lost, read(Optional.empty(), story.now()).headline());
    Policy fewer = Config.defaults().policy(Family.IPV6);
    Policy other = new Policy(Family.IPV6, List.of(), List.of(), List.of(), fewer.translation());
    assertHeadline(lost, read(Optional.of(other), story.now()).headline());
    // Read before the sync that put them back.
    assertTrue(read(Optional.empty(), story.now().minusMillis(1)).headline().ok());
  }

  /** With no IPv4 rules any more. */
  private static Status flushed(Story story) {
    Status status = story.read();
    Tally none = new Tally(Map.of(), Counter.NONE, Counter.NONE);
    Observation seen = new Observation.Seen(Story.observed(Family.IPV4, Optional.empty(), none));
    return status.with(
        new Status.Sample(story.now(), Map.of(Family.IPV4, seen), status.sample().conflicts()),
        Optional.empty(),
        story.now());
  }

  /** IPv4 as it should be, and this for IPv6. */
  private Status read(Optional<Policy> policy, Instant at) {
    Status status = story.read();
    Map<Family, Observation> seen = new EnumMap<>(status.sample().rules());
    Tally none = new Tally(Map.of(), Counter.NONE, Counter.NONE);
    seen.put(Family.IPV6, new Observation.Seen(Story.observed(Family.IPV6, policy, none)));
    return status.with(
        new Status.Sample(at, seen, status.sample().conflicts()), Optional.empty(), story.now());
  }

  @Test
  void whereAnotherProgramKeepsChangingThemThatIsWhatIsSaid() {
    story.fighting = true;
    story.pass(Trigger.RULES, Story.changed("10.0.0.0/8"));
    String fight =
        "warn false IPv4 masquerading is set up as /etc/config/ip-masq-agent says, but another"
            + " program keeps changing the rules; they are repaired, at most two seconds later.";
    assertHeadline(fight, story);
    assertHeadline(fight, flushed(story).headline());
  }

  @Test
  void aForeignRuleMayDecide() {
    story.pass(Trigger.START, Story.unchanged());
    assertHeadline(
        "warn true IPv4 masquerading is in force, as /etc/config/ip-masq-agent says; but a rule of"
            + " flannel may masquerade packets from 10.244.0.0/16 that the config exempts (to"
            + " 10.0.0.0/8); whether it does cannot be told from here.",
        story,
        conflict(Conflict.Kind.UNCLEAR));
  }

  @Test
  void liveFlowsGoWrongAndNoRuleTellsWhy() {
    story.pass(Trigger.START, Story.unchanged()).flows(40, 1);
    assertHeadline(
        "good true IPv4 masquerading is in force, as /etc/config/ip-masq-agent says.", story);
    story.flows(10, 2);
    assertHeadline(
        "bad false IPv4 masquerading is set up as /etc/config/ip-masq-agent says, but live flows"
            + " went against it: 10.244.1.10 to 10.9.9.9 (udp 53) left as 198.51.100.1 (3 of 50"
            + " sampled).",
        story,
        conflict(Conflict.Kind.UNCLEAR));
    assertTrue(story.status().ready());
  }

  @Test
  void anotherRuntimesOwnNetworkIsNoMatterOfPods() {
    story.pass(Trigger.START, Story.unchanged());
    assertEquals(of(story), of(story, conflict(Conflict.Kind.ELSEWHERE)));
  }

  /** Whoever is responsible: what the rules are, and a rule of others that decides. */
  @Test
  void whoRepairsTheRules() {
    assertUnder(
        new Status.Agent.None(),
        "bad false No agent runs here. ",
        ", but nothing keeps them that way",
        ", and nothing repairs that");
    assertUnder(
        new Status.Agent.Foreign(42),
        "warn false Another ip-masq-agent runs here (process 42), not this one. ",
        "; whether it leaves them that way is not known",
        "");
    assertUnder(
        new Status.Agent.Unresponsive(42, "Connection refused"),
        "warn false The agent (process 42) does not answer (Connection refused), so perhaps nothing"
            + " repairs the rules. ",
        "",
        "");
  }

  private static void assertUnder(
      Status.Agent agent, String before, String ifGood, String otherwise) {
    String bad = before.replace("warn", "bad");
    Story story = new Story(agent).pass(Trigger.START, Story.unchanged());
    String good = "The rules are what /etc/config/ip-masq-agent asks for";
    assertHeadline(before + good + ifGood + ".", story);
    assertHeadline(
        bad
            + good
            + ", but a rule of flannel keeps packets from 10.244.0.0/16 from our rules, so they are"
            + " not masqueraded (to 10.0.0.0/8)"
            + otherwise
            + ".",
        story,
        conflict(Conflict.Kind.SHIELDS));
    story.pass(Trigger.RULES, Story.failed());
    assertHeadline(bad + "The IPv4 rules could not be put in force" + otherwise + ".", story);
    story.pass(Trigger.RULES, PENDING);
    assertHeadline(
        bad
            + "The IPv4 rules in the kernel are not what /etc/config/ip-masq-agent asks for"
            + otherwise
            + ".",
        story);
  }

  @Test
  void whatTheRulesGoBy() {
    story.pass(Trigger.START, Story.unchanged());
    assertEquals("/etc/config/ip-masq-agent", Headline.source(story.status()));
    Map.of(
            Basis.LAST_GOOD, "the last good config",
            Basis.ROLLED_BACK, "the config before it",
            Basis.FALLBACK, "the built-in default")
        .forEach(
            (basis, source) -> {
              story.bad(basis).pass(Trigger.CONFIG, Story.unchanged());
              assertEquals(source, Headline.source(story.status()));
            });
  }

  @Test
  void aDryRun() {
    Story dry = new Story(new Status.Agent.DryRun()).pass(Trigger.START, Story.unchanged());
    assertHeadline(
        "warn false Dry run: the rules are what /etc/config/ip-masq-agent asks for; this agent"
            + " writes nothing.",
        dry);
    dry.pass(Trigger.RULES, PENDING);
    assertHeadline(
        "warn false Dry run: the rules are not what /etc/config/ip-masq-agent asks for.", dry);
    assertTrue(dry.status().ready());
  }

  /** A misspelled key: rules are in force, but not what somebody wrote. */
  @Test
  void keysOfTheFileWereIgnored() {
    story.lacking(2, "2 keys of the file were ignored: the default list applies");
    story.pass(Trigger.START, Story.unchanged());
    assertHeadline(
        "warn true IPv4 masquerading is in force, but 2 keys of the file were ignored: the default"
            + " list applies.",
        story);
    assertTrue(story.status().ready());
    assertTrue(
        Metrics.of(story.read()).contains("\nip_masq_agent_config_ignored_keys 2\n")
            && Metrics.of(story.read()).contains("\nip_masq_agent_ok 1\n"));
  }

  /** A sync that hangs is part of the present. */
  @Test
  void aSyncTakesLong() {
    story.pass(Trigger.START, Story.unchanged());
    Status.Waiting some = new Status.Waiting(Story.START, "waiting for iptables", false);
    Status waiting = story.read().with(story.read().sample(), Optional.of(some), story.now());
    assertHeadline(
        "warn false Not known since 2026-01-01T12:00:00Z: waiting for iptables.",
        waiting.headline());
    assertTrue(waiting.ready());
    Status.Waiting tooLong = new Status.Waiting(Story.START, "waiting for iptables", true);
    Status late = story.read().with(story.read().sample(), Optional.of(tooLong), story.now());
    assertHeadline(
        "bad false Not ready: not known since 2026-01-01T12:00:00Z: waiting for iptables.",
        late.headline());
  }

  @Test
  void theRulesCannotBeRead() {
    story.pass(
        Trigger.START, new Result.Failed(new Failure("iptables said: use 'nft'.", "do so"), true));
    assertHeadline(
        "bad false Not ready: the IPv4 rules cannot be read: iptables said: use 'nft'.", story);
    assertEquals(List.of("iptables said: use 'nft'.: do so"), story.status().causes());
  }

  private static Headline of(Story story, Conflict... conflicts) {
    Status.Sample sample =
        new Status.Sample(Instant.MIN, Map.of(), Optional.of(List.of(conflicts)));
    return story.status().with(sample, Optional.empty(), story.now()).headline();
  }

  private static void assertHeadline(String expected, Story story, Conflict... conflicts) {
    assertHeadline(expected, of(story, conflicts));
  }

  private static void assertHeadline(String expected, Headline headline) {
    assertEquals(expected, headline.level() + " " + headline.ok() + " " + headline.sentence());
  }

  static Conflict conflict(Conflict.Kind kind) {
    return conflict(kind, List.of(Cidr.of("10.0.0.0/8")));
  }

  static Conflict conflict(Conflict.Kind kind, List<Cidr> ranges) {
    return new Conflict(
        Family.IPV4,
        kind,
        Owner.FLANNEL,
        new ForeignText("-s 10.244.0.0/16 -j MASQUERADE"),
        new ForeignText("iptables-nft POSTROUTING"),
        "packets from 10.244.0.0/16",
        ranges,
        1);
  }
}
