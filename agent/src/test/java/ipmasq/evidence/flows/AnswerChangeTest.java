package ipmasq.evidence.flows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.evidence.flows.Answers.Outcome;
import ipmasq.evidence.flows.Answers.Share;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import ipmasq.policy.Translation;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When answers that stop are reported, and when a config is rolled back for it. */
class AnswerChangeTest {
  private static final int TCP = 6;

  private static FlowJudge exempting(String... ranges) {
    return new FlowJudge(
        List.of(
            new Policy(
                Family.IPV4,
                List.of(),
                List.of(),
                Arrays.stream(ranges)
                    .map(range -> new Destination(Cidr.of(range), Treatment.EXEMPT))
                    .toList(),
                new Translation(Optional.empty(), List.of(), false))));
  }

  /** Each flow from another pair, so that all of them count. */
  private static void add(
      Answers answers, String network, int sources, boolean translated, int flows, int answered) {
    for (int i = 0; i < flows; i++) {
      Ip source = Ip.of("10.244.1." + (2 + i % sources));
      Ip left = translated ? Ip.of("192.0.2.10") : source;
      Ip to = Ip.of(network + (1 + i / 5));
      answers.add(
          new SampledFlow(Instant.EPOCH, source, to, left, TCP, 443),
          i < answered ? Outcome.ANSWERED : Outcome.SILENT);
    }
  }

  @ParameterizedTest
  @CsvSource({
    // sources, before, answered, after, answered, others before, answered, after, answered
    "2, 40, 40, 40, 0, 40, 40, 40, 40, true, true",
    "2, 40, 32, 40, 4, 40, 40, 40, 33, true, true", // just so
    "2, 40, 31, 40, 4, 40, 40, 40, 40, true, false", // not well answered before
    "2, 40, 40, 40, 5, 40, 40, 40, 40, true, false", // some answer
    "2, 40, 40, 40, 0, 40, 40, 40, 32, true, false", // others fell too
    "2, 40, 40, 40, 0, 40, 40, 19, 19, true, false", // too few others
    "2, 40, 40, 40, 0, 19, 19, 40, 40, true, false",
    "1, 40, 40, 40, 0, 40, 40, 40, 40, true, false", // one source
    "2, 19, 19, 40, 0, 40, 40, 40, 40, true, false", // too few before
    "2, 40, 40, 19, 0, 40, 40, 40, 40, true, false", // too few after
    "2, 9, 9, 40, 0, 40, 40, 40, 40, false, false",
    "2, 40, 40, 9, 0, 40, 40, 40, 40, false, false",
    "2, 40, 8, 40, 0, 40, 40, 40, 40, false, false", // one-way
    "2, 40, 40, 40, 30, 40, 40, 40, 40, false, false",
    "2, 0, 0, 40, 0, 40, 40, 40, 40, false, false", // nothing known from before
  })
  void reportedAndRolledBack(
      int sources,
      int before,
      int answeredBefore,
      int after,
      int answeredAfter,
      int othersBefore,
      int othersAnsweredBefore,
      int othersAfter,
      int othersAnsweredAfter,
      boolean silent,
      boolean cutOff) {
    Answers was = new Answers();
    add(was, "203.0.113.", sources, true, before, answeredBefore);
    add(was, "198.51.100.", 2, true, othersBefore, othersAnsweredBefore);
    Answers is = new Answers();
    add(is, "203.0.113.", sources, false, after, answeredAfter);
    add(is, "198.51.100.", 2, true, othersAfter, othersAnsweredAfter);
    AnswerChange change =
        AnswerChange.of(
            was, is, exempting("10.0.0.0/8"), exempting("10.0.0.0/8", "203.0.113.0/24"), false);
    assertEquals(silent, !change.silent().isEmpty(), change.toString());
    assertEquals(cutOff, change.cutOff().isPresent(), change.toString());
  }

  @Test
  void whatAnotherProgramDecidedDoesNotCount() {
    Answers was = new Answers();
    add(was, "203.0.113.", 2, true, 40, 40);
    Answers is = new Answers();
    add(is, "203.0.113.", 2, true, 40, 0); // the new config would keep the source
    AnswerChange change = AnswerChange.of(was, is, exempting(), exempting("203.0.113.0/24"), false);
    assertEquals(List.of(), change.ranges());
  }

  @Test
  void sentences() {
    Answers was = new Answers();
    add(was, "203.0.113.", 2, true, 20, 20);
    Answers is = new Answers();
    add(is, "203.0.113.", 2, false, 15, 0);
    FlowJudge now = exempting("203.0.113.0/24");
    assertEquals(
        "since the change 0 of 15 tcp flows to 203.0.113.0/24 were answered, before 20 of 20",
        AnswerChange.of(was, is, exempting(), now, false).ranges().getFirst().toString());
    AnswerChange.Range lately =
        AnswerChange.of(new Answers(), is, exempting(), now, true).ranges().getFirst();
    assertEquals(
        "lately 0 of 15 tcp flows to 203.0.113.0/24 were answered, before the change none were"
            + " sampled",
        lately.toString());
    assertEquals(
        Optional.of(
            "answers did not return with the config before (0 of 15 tcp flows to 203.0.113.0/24):"
                + " the new config was not the cause"),
        lately.outcome(is));
    assertEquals(
        Optional.of(
            "answers returned with the config before (20 of 20 tcp flows to 203.0.113.0/24)"),
        lately.outcome(was));
  }

  /** As after a restart with one config, and soon another. */
  @Test
  void aSecondChangeIsComparedWithFlowsFromBeforeTheFirst() {
    Answers earlier = new Answers();
    add(earlier, "203.0.113.", 2, true, 40, 40);
    add(earlier, "198.51.100.", 2, true, 40, 40);
    add(earlier, "10.0.0.", 2, true, 40, 40);
    AnswerWatch watch = new AnswerWatch();
    watch.begin(exempting(), earlier, Instant.EPOCH);
    watch.change(exempting("10.0.0.0/24"), Instant.EPOCH);
    Answers saved = Answers.parse(watch.lasting(Instant.EPOCH.plusSeconds(4)).lines());
    assertEquals(80, saved.by(_ -> Optional.of("all")).get("all").flows());
    assertTrue(watch.lasting(Instant.EPOCH.plusSeconds(600)).isEmpty());

    FlowJudge third = exempting("10.0.0.0/24", "203.0.113.0/24");
    AnswerWatch next = new AnswerWatch();
    next.begin(exempting("10.0.0.0/24"), saved, Instant.EPOCH);
    for (AnswerWatch each : List.of(watch, next)) {
      each.change(third, Instant.EPOCH.plusSeconds(8));
      Answers after = new Answers();
      add(after, "203.0.113.", 2, false, 40, 0);
      add(after, "198.51.100.", 2, true, 40, 40);
      each.add(after, Instant.EPOCH.plusSeconds(12));
      assertTrue(each.undo().isPresent(), each.change().toString());
    }
  }

  @Test
  void ofOnePairFiveCountAndFiguresSurviveAFile() {
    Answers answers = new Answers();
    Ip pod = Ip.of("10.244.1.2");
    for (int i = 0; i < 100; i++) {
      answers.add(
          new SampledFlow(Instant.EPOCH, pod, Ip.of("203.0.113.5"), pod, TCP, 443), Outcome.SILENT);
    }
    add(answers, "198.51.100.", 2, true, 10, 5);
    Answers read = Answers.parse(answers.lines());
    assertEquals(answers.lines(), read.lines());
    Share all = read.by(_ -> Optional.of("all")).get("all");
    assertEquals(15, all.flows());
    assertEquals(5, all.answered());
    assertTrue(Answers.parse(List.of("nonsense", "", "a b c d e f g")).isEmpty());
  }
}
