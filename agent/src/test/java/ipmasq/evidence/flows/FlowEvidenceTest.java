package ipmasq.evidence.flows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.evidence.flows.Answers.Share;
import ipmasq.net.Cidr;
import ipmasq.net.Ip;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FlowEvidenceTest {
  private static final Instant START = Instant.parse("2026-01-01T10:00:00Z");

  static SampledFlow wrong(Instant at) {
    return new SampledFlow(
        at, Ip.of("10.244.1.10"), Ip.of("10.9.9.9"), Ip.of("198.51.100.1"), 17, 53);
  }

  private static FlowSample sample(int second, int flows, int wrong) {
    Instant at = START.plusSeconds(second);
    Share share = new Share(0, 0, 0, flows, wrong, Set.of());
    AnsweredRange exempt = new AnsweredRange(Cidr.of("10.0.0.0/8"), 17, true, false, share);
    return new FlowSample(
        at,
        flows,
        wrong,
        false,
        List.of(exempt),
        Collections.nCopies(Math.min(5, wrong), wrong(at)));
  }

  private static FlowEvidence of(FlowSample... samples) {
    FlowEvidence evidence = FlowEvidence.none("none sampled yet");
    for (FlowSample sample : samples) {
      evidence = evidence.and(sample);
    }
    return evidence;
  }

  @Test
  void flowsToOneRange() {
    Instant now = START.plusSeconds(90);
    Ip exempt = Ip.of("10.9.9.9");
    FlowEvidence evidence = of(sample(0, 10, 0), sample(30, 5, 0));
    assertEquals(
        "15 sampled to 10.0.0.0/8 in 2 samples of the last 90 s, all as the config says",
        evidence.toward(exempt, true, now));
    assertEquals(
        "20 sampled to 10.0.0.0/8 in 3 samples of the last 90 s, 3 against the config",
        evidence.and(sample(60, 5, 3)).toward(exempt, true, now));
    assertEquals(
        "none sampled to there in 2 samples of the last 90 s",
        evidence.toward(Ip.of("8.8.8.8"), false, now));
    assertEquals("none sampled yet", of().toward(exempt, true, now));
  }

  private static String line(FlowEvidence evidence) {
    return evidence.line(START.plusSeconds(90));
  }

  @Test
  void saysHowManyOfHowMany() {
    assertEquals("none sampled yet", line(of()));
    assertEquals("no flow of a pod seen in 1 sample of the last 90 s", line(of(sample(0, 0, 0))));
    assertEquals(
        "120 sampled in 2 samples of the last 90 s, all as the config says",
        line(of(sample(0, 100, 0), sample(30, 20, 0))));
    assertEquals(
        "3 of 120 sampled in 2 samples of the last 90 s went against the config, e.g."
            + " 10.244.1.10 to 10.9.9.9 (udp 53) left as 198.51.100.1",
        line(of(sample(0, 100, 0), sample(30, 20, 3))));
    assertEquals(
        "100 sampled in 1 sample of the last 90 s, all as the config says; some were"
            + " lost; now no evidence: x",
        line(
            of(new FlowSample(START, 100, 0, true, List.of(), List.of()))
                .without(START.plusSeconds(60), "no evidence: x")));
    SampledFlow kept =
        new SampledFlow(START, Ip.of("10.244.1.10"), Ip.of("8.8.8.8"), Ip.of("10.244.1.10"), 1, 0);
    assertEquals("10.244.1.10 to 8.8.8.8 (icmp) left with the pod's address", kept.toString());
  }

  @Test
  void oneWrongFlowIsNoAlarmAndTwoAre() {
    assertEquals(Optional.empty(), of(sample(0, 10, 1)).wrongNow());
    assertTrue(of(sample(0, 10, 2)).wrongNow().isPresent());
    assertTrue(of(sample(0, 10, 1), sample(30, 10, 1)).wrongNow().isPresent());
    // A sample without flows says nothing about either.
    assertTrue(of(sample(0, 10, 1), sample(30, 0, 0), sample(60, 1, 1)).wrongNow().isPresent());
    assertEquals(
        Optional.empty(), of(sample(0, 10, 1), sample(30, 5, 0), sample(60, 9, 1)).wrongNow());
  }

  @Test
  void twoGoodSamplesEndIt() {
    assertTrue(of(sample(0, 10, 2), sample(30, 5, 0)).wrongNow().isPresent());
    FlowEvidence over = of(sample(0, 10, 2), sample(30, 5, 0), sample(60, 5, 0));
    assertEquals(Optional.empty(), over.wrongNow());
    assertEquals(2, over.wrong());
  }

  @Test
  void whatIsOldOrOfOtherRulesIsForgotten() {
    FlowEvidence evidence = of(sample(0, 10, 5));
    assertEquals(0, evidence.and(sample(601, 0, 0)).flows());
    assertEquals(0, evidence.without(START.plusSeconds(601), "x").flows());
    FlowEvidence anew = evidence.anew();
    assertEquals(Optional.empty(), anew.wrongNow());
    assertEquals(5, anew.asConfig());
    assertEquals(5, anew.against());
    for (int i = 0; i < 100; i++) {
      evidence = evidence.and(sample(i, 10, 1));
    }
    assertEquals(40, evidence.samples().size());
    assertEquals(5, evidence.examples().size());
    assertEquals(START.plusSeconds(99), evidence.examples().getFirst().at());
  }
}
