package ipmasq.evidence.flows;

import static ipmasq.evidence.flows.FlowJudge.Judgement.AGAINST_CONFIG;
import static ipmasq.evidence.flows.FlowJudge.Judgement.AS_CONFIG;
import static ipmasq.evidence.flows.FlowJudge.Judgement.LEFT_OUT;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.evidence.flows.FlowJudge.Judgement;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.policy.Packet;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import ipmasq.policy.Translation;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FlowJudgeTest {
  private static final Ip POD = Ip.of("10.244.1.10");
  private static final Ip NODE_IP = Ip.of("192.0.2.10");
  private static final Ip CLIENT = Ip.of("198.51.100.77");
  private static final Ip BROADCAST = Ip.of("10.244.1.255");
  private static final FlowJudge.OwnAddresses NODE =
      new FlowJudge.OwnAddresses(Set.of(NODE_IP, BROADCAST), List.of(Cidr.of("172.17.0.0/16")));
  private static final Routes UPLINK = by(false, "eth0");

  private static Routes by(boolean mayStay, String... interfaces) {
    return new Routes() {
      @Override
      public boolean isBehindNode(Ip source) {
        return !source.equals(CLIENT);
      }

      @Override
      public Optional<Set<String>> interfaces(FlowEnds ends) {
        return interfaces.length == 0 ? Optional.empty() : Optional.of(Set.of(interfaces));
      }

      @Override
      public boolean mayStay(FlowEnds ends) {
        return mayStay;
      }
    };
  }

  private static Policy policy(
      List<Cidr> sources, List<String> interfaces, Optional<IpRange> snat) {
    return new Policy(
        Family.IPV4,
        sources,
        interfaces,
        List.of(
            new Destination(Cidr.of("10.20.0.0/16"), Treatment.TRANSLATE),
            new Destination(Cidr.of("10.0.0.0/8"), Treatment.EXEMPT)),
        new Translation(snat, List.of(), true));
  }

  private static final Policy PLAIN = policy(List.of(), List.of(), Optional.empty());

  private static SampledFlow flow(Ip from, String to, Ip leftAs) {
    return new SampledFlow(Instant.EPOCH, from, Ip.of(to), leftAs, 17, 53);
  }

  private static Judgement judge(Policy policy, SampledFlow flow, Routes routes) {
    return new FlowJudge(List.of(policy)).of(flow, NODE, routes);
  }

  private static Judgement judge(Ip from, String to, Ip leftAs) {
    return judge(PLAIN, flow(from, to, leftAs), UPLINK);
  }

  @Test
  void theSourceIsWhatTheConfigSaysOrNot() {
    assertEquals(AS_CONFIG, judge(POD, "10.9.9.9", POD));
    assertEquals(AGAINST_CONFIG, judge(POD, "10.9.9.9", NODE_IP));
    assertEquals(AS_CONFIG, judge(POD, "8.8.8.8", NODE_IP));
    assertEquals(AGAINST_CONFIG, judge(POD, "8.8.8.8", POD));
    assertEquals(AS_CONFIG, judge(POD, "10.20.0.1", NODE_IP));
    assertEquals(AGAINST_CONFIG, judge(POD, "10.20.0.1", POD));
    assertEquals(AGAINST_CONFIG, judge(POD, "10.19.255.255", NODE_IP));
    assertEquals(AGAINST_CONFIG, judge(POD, "10.21.0.0", NODE_IP));
  }

  @Test
  void whatComesInFromOutsideIsNoPods() {
    assertEquals(LEFT_OUT, judge(CLIENT, "10.244.1.10", CLIENT));
    assertEquals(LEFT_OUT, judge(CLIENT, "8.8.8.8", CLIENT));
    Policy named = policy(List.of(Cidr.of("198.51.100.0/24")), List.of(), Optional.empty());
    assertEquals(AS_CONFIG, judge(named, flow(CLIENT, "10.244.1.10", CLIENT), UPLINK));
  }

  /** Its flows have the pod's address because they never leave. */
  @Test
  void whatATransparentProxyMayHaveTakenSaysNothing() {
    Routes proxy = by(true, "eth0");
    assertEquals(LEFT_OUT, judge(PLAIN, flow(POD, "8.8.8.8", POD), proxy));
    assertEquals(AS_CONFIG, judge(PLAIN, flow(POD, "8.8.8.8", NODE_IP), proxy));
    assertEquals(AS_CONFIG, judge(PLAIN, flow(POD, "10.9.9.9", POD), proxy));
    assertEquals(AGAINST_CONFIG, judge(PLAIN, flow(POD, "10.9.9.9", NODE_IP), proxy));
  }

  @Test
  void whatIsNotAPodsOrDoesNotLeaveSaysNothing() {
    assertEquals(LEFT_OUT, judge(NODE_IP, "8.8.8.8", NODE_IP));
    assertEquals(LEFT_OUT, judge(POD, "192.0.2.10", POD));
    assertEquals(LEFT_OUT, judge(POD, "10.244.1.255", POD));
    assertEquals(LEFT_OUT, judge(POD, "255.255.255.255", POD));
    assertEquals(LEFT_OUT, judge(POD, "224.0.0.251", POD));
    assertEquals(LEFT_OUT, judge(Ip.of("0.0.0.0"), "8.8.8.8", Ip.of("0.0.0.0")));
    assertEquals(LEFT_OUT, judge(Ip.of("172.17.0.2"), "10.9.9.9", NODE_IP));
    assertEquals(LEFT_OUT, judge(Ip.of("fd00::1"), "2001:db8::1", Ip.of("fd00::1")));
    // An address that routes bring here without its being an interface's.
    assertEquals(LEFT_OUT, judge(PLAIN, flow(POD, "8.8.8.8", POD), by(false)));
  }

  @Test
  void onlyTheSourcesOfTheConfigCount() {
    Policy some = policy(List.of(Cidr.of("10.244.0.0/16")), List.of(), Optional.empty());
    assertEquals(AGAINST_CONFIG, judge(some, flow(POD, "10.9.9.9", NODE_IP), UPLINK));
    assertEquals(LEFT_OUT, judge(some, flow(Ip.of("10.7.0.1"), "10.9.9.9", NODE_IP), UPLINK));
    Policy docker = policy(List.of(Cidr.of("172.17.0.0/16")), List.of(), Optional.empty());
    assertEquals(
        AGAINST_CONFIG, judge(docker, flow(Ip.of("172.17.0.2"), "10.9.9.9", NODE_IP), UPLINK));
  }

  @Test
  void onlyTheInterfacesOfTheConfigCount() {
    Policy some = policy(List.of(), List.of("eth+"), Optional.empty());
    Routes tunnel = by(false, "wg0");
    Routes either = by(false, "eth0", "wg0");
    for (Ip leftAs : List.of(POD, NODE_IP)) {
      assertEquals(LEFT_OUT, judge(some, flow(POD, "8.8.8.8", leftAs), tunnel));
      assertEquals(LEFT_OUT, judge(some, flow(POD, "8.8.8.8", leftAs), either));
    }
    assertEquals(AS_CONFIG, judge(some, flow(POD, "8.8.8.8", NODE_IP), UPLINK));
    assertEquals(AGAINST_CONFIG, judge(some, flow(POD, "8.8.8.8", POD), UPLINK));
    assertEquals(LEFT_OUT, judge(some, flow(POD, "10.9.9.9", NODE_IP), tunnel));
    assertEquals(AS_CONFIG, judge(some, flow(POD, "10.9.9.9", POD), tunnel));
  }

  @Test
  void theAddressThatTheConfigNamesCounts() {
    Policy snat = policy(List.of(), List.of(), IpRange.parse("198.51.100.1-198.51.100.4"));
    Ip named = Ip.of("198.51.100.2");
    assertEquals(AS_CONFIG, judge(snat, flow(POD, "8.8.8.8", named), UPLINK));
    assertEquals(AGAINST_CONFIG, judge(snat, flow(POD, "8.8.8.8", NODE_IP), UPLINK));
  }

  @Test
  void agreesWithThePolicyOnManyRanges() {
    Random random = new Random(17);
    List<Destination> destinations = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      int prefix = 8 + random.nextInt(20);
      long bits = random.nextInt() & 0xffff_ffffL & -1L << 32 - prefix;
      destinations.add(
          new Destination(
              new Cidr(new Ip(Family.IPV4, 0, bits), prefix),
              random.nextInt(4) == 0 ? Treatment.TRANSLATE : Treatment.EXEMPT));
    }
    destinations.sort((a, b) -> b.range().prefix() - a.range().prefix()); // as a config has them
    Policy many = new Policy(Family.IPV4, List.of(), List.of(), destinations, PLAIN.translation());
    FlowJudge judge = new FlowJudge(List.of(many));
    int judged = 0;
    for (int i = 0; i < 10_000; i++) {
      Ip to = new Ip(Family.IPV4, 0, random.nextInt() & 0xffff_ffffL);
      boolean translated = many.verdictFor(Packet.to(to).from(POD)).translated();
      SampledFlow right =
          new SampledFlow(Instant.EPOCH, POD, to, translated ? NODE_IP : POD, 6, 443);
      SampledFlow wrong =
          new SampledFlow(Instant.EPOCH, POD, to, translated ? POD : NODE_IP, 6, 443);
      if (judge.of(right, NODE, UPLINK) != LEFT_OUT) {
        assertEquals(AS_CONFIG, judge.of(right, NODE, UPLINK), to.toString());
        assertEquals(AGAINST_CONFIG, judge.of(wrong, NODE, UPLINK), to.toString());
        judged++;
      }
    }
    assertEquals(true, judged > 8_000, "judged " + judged);
  }
}
