package ipmasq.status;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.config.Config;
import ipmasq.config.Key;
import ipmasq.log.Log;
import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import ipmasq.status.Status.Deed;
import ipmasq.sync.SyncReport.Basis;
import ipmasq.sync.Trigger;
import java.util.List;
import org.junit.jupiter.api.Test;

class StatusTrackerTest {
  private final Story story = new Story();

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
    assertEquals(1, story.status().totals().of(Deed.REPAIR));
    assertEquals(3, story.status().totals().of(Deed.CHANGE));
    assertEquals(Story.START.plusSeconds(3), story.status().configSince());
  }

  @Test
  void theSameFailureAgainAndAgainIsOneEntry() {
    story.pass(Trigger.START, Story.failed());
    List<Log.Line> history = story.status().history();
    for (int i = 0; i < 30; i++) {
      story.pass(Trigger.RETRY, Story.failed());
    }
    assertSame(history, story.status().history());
    assertEquals(31, story.status().totals().of(Deed.FAILURE));
    assertFalse(story.status().ready());
    assertEquals(List.of("the IPv4 rules could not be put in force"), story.status().reasons());
    assertEquals(List.of(Story.REFUSED.toString()), story.status().causes());
    story.pass(Trigger.RETRY, Story.unchanged());
    assertTrue(story.status().ready());
  }

  @Test
  void aBadFileIsCountedOnce() {
    story.pass(Trigger.START, Story.changed("a"));
    story.bad(Basis.LAST_GOOD).pass(Trigger.CONFIG, Story.unchanged());
    story.pass(Trigger.RESYNC, Story.unchanged());
    assertFalse(story.status().ready());
    assertTrue(story.status().causes().getFirst().contains("ip-masq-agent:3:5: error: CIDR"));
    story.good().pass(Trigger.CONFIG, Story.unchanged());
    assertEquals(1, story.status().totals().rejections());
    assertEquals(Story.START.plusSeconds(1), story.status().configSince());
  }
}
