package ipmasq.status;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.config.Config;
import ipmasq.config.Key;
import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import ipmasq.sync.SyncReport.Basis;
import ipmasq.sync.Trigger;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StatusTrackerTest {
  private final Story story = new Story();

  private List<Event.Kind> kinds() {
    return story.status().history().stream().map(event -> event.what().kind()).toList();
  }

  @Test
  void knowsNothingBeforeTheFirstPass() {
    assertTrue(story.tracker.status().isEmpty());
  }

  @Test
  void passesThatChangeNothingAreOnlyCounted() {
    story.pass(Trigger.START, Story.changed("10.0.0.0/8"));
    for (int i = 0; i < 200; i++) {
      story.pass(Trigger.RESYNC, Story.unchanged());
    }
    assertEquals(List.of(Event.Kind.CHANGED), kinds());
    assertEquals(200L, story.status().totals().syncs().get(Trigger.RESYNC));
    assertEquals(Story.START.plusSeconds(1), story.status().standing(Family.IPV4).since());
    assertTrue(story.status().ready());
  }

  @Test
  void aChangeThatTheConfigDidNotAskForIsARepair() {
    story.pass(Trigger.START, Story.changed("10.0.0.0/8"));
    story.pass(Trigger.RULES, Story.changed("10.0.0.0/8"));
    Config other = Config.defaults().with(Key.NON_MASQUERADE_CIDRS, Cidrs.copyOf(List.of()));
    story.configured(other).pass(Trigger.CONFIG, Story.changed("x"));
    assertEquals(List.of(Event.Kind.CHANGED, Event.Kind.REPAIRED, Event.Kind.CHANGED), kinds());
    assertEquals(Map.of(Family.IPV4, 1L), story.status().totals().repairs());
    assertEquals(Map.of(Family.IPV4, 3L), story.status().totals().changes());
    assertEquals(Story.START.plusSeconds(3), story.status().configSince());
  }

  @Test
  void flowsThatGoWrongAreAnEventOnceAndAgainWhenTheyGoRight() {
    story.pass(Trigger.START, Story.unchanged()).flows(10, 3).flows(10, 3).flows(10, 0);
    assertEquals(List.of(Event.Kind.FLOWS_WRONG), kinds());
    story.flows(10, 0);
    assertEquals(List.of(Event.Kind.FLOWS_WRONG, Event.Kind.FLOWS_RIGHT), kinds());
  }

  @Test
  void theSameFailureAgainAndAgainIsOneEntry() {
    story.pass(Trigger.START, Story.failed());
    for (int i = 0; i < 30; i++) {
      story.pass(Trigger.RETRY, Story.failed());
    }
    Event failure = story.status().history().getLast();
    assertEquals(31, failure.times());
    assertEquals(Story.START.plusSeconds(1), failure.at());
    assertEquals(Story.START.plusSeconds(31), failure.until());
    assertFalse(story.status().ready());
    assertEquals(List.of("the IPv4 rules could not be put in force"), story.status().reasons());
    assertEquals(List.of(Story.REFUSED.toString()), story.status().causes());
    story.pass(Trigger.RETRY, Story.unchanged());
    assertEquals(List.of(Event.Kind.FAILED, Event.Kind.RECOVERED), kinds());
    assertTrue(story.status().ready());
  }

  @Test
  void aBadFileIsAnEntryWhenItBecomesBadAndWhenItIsGoodAgain() {
    story.pass(Trigger.START, Story.changed("a"));
    story.bad(Basis.LAST_GOOD).pass(Trigger.CONFIG, Story.unchanged());
    story.pass(Trigger.RESYNC, Story.unchanged());
    assertFalse(story.status().ready());
    assertTrue(story.status().causes().getFirst().contains("ip-masq-agent:3:5: error: CIDR"));
    story.good().pass(Trigger.CONFIG, Story.unchanged());
    assertEquals(List.of(Event.Kind.CHANGED, Event.Kind.REJECTED, Event.Kind.ACCEPTED), kinds());
    assertEquals(1, story.status().totals().rejections());
    assertEquals(Story.START.plusSeconds(1), story.status().configSince());
  }

  @Test
  void theHistoryIsBounded() {
    story.pass(Trigger.START, Story.changed("a"));
    for (int i = 0; i < 500; i++) {
      story.pass(Trigger.RULES, Story.changed("10.0.0." + i));
    }
    assertEquals(50, story.status().history().size());
    String[] many = new String[1000];
    Arrays.setAll(many, i -> Cidr.of("10.0.0.0/8").toString() + i);
    story.pass(Trigger.RULES, Story.changed(many));
    Event last = story.status().history().getLast();
    assertEquals(20, last.what().changes().size());
    assertEquals(980, last.what().more());
  }
}
