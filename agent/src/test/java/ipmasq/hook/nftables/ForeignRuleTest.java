package ipmasq.hook.nftables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.backend.nftables.TableNames;
import ipmasq.hook.Action;
import ipmasq.hook.Condition;
import ipmasq.hook.ElementSet;
import ipmasq.hook.Flow;
import ipmasq.hook.Marks;
import ipmasq.hook.Truth;
import ipmasq.hook.ipset.ForeignIpsets;
import ipmasq.hook.nftables.ForeignSets.Elements;
import ipmasq.hook.nftables.ForeignSets.Entry;
import ipmasq.hook.nftables.ForeignSets.Keys;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import ipmasq.netlink.nftables.Bitwise;
import ipmasq.netlink.nftables.Cmp;
import ipmasq.netlink.nftables.Ct;
import ipmasq.netlink.nftables.Data;
import ipmasq.netlink.nftables.Expression;
import ipmasq.netlink.nftables.Immediate;
import ipmasq.netlink.nftables.InRange;
import ipmasq.netlink.nftables.Lookup;
import ipmasq.netlink.nftables.Masquerade;
import ipmasq.netlink.nftables.Meta;
import ipmasq.netlink.nftables.Nat;
import ipmasq.netlink.nftables.Payload;
import ipmasq.netlink.nftables.Rule;
import ipmasq.netlink.nftables.TableFamily;
import ipmasq.netlink.nftables.Unknown;
import ipmasq.netlink.nftables.Verdict;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What is made of anybody's expressions. */
class ForeignRuleTest {
  private static final Payload PORT = new Payload(1, Payload.PayloadBase.TRANSPORT, 2, 2);
  private static final Data PREFIX = Data.of(new byte[] {(byte) 255, (byte) 255, 0, 0});
  private static final Data NETWORK = Data.of(new byte[] {10, 9, 0, 0});
  private static final Nat TO_REGISTER =
      new Nat(Nat.NatKind.SNAT, TableFamily.IP, 1, 1, 0, 0, Set.of());

  @Test
  void addressesAreBlocksByTheirMask() {
    assertEquals(
        List.of(Condition.source(Cidr.of("10.9.0.0/16"))),
        conditions(Payload.IP_SADDR, Bitwise.and(1, PREFIX), Cmp.eq(NETWORK)));
    assertEquals(
        List.of(new Condition.Not(Condition.destination(Cidr.of("10.0.0.0/8")))),
        conditions(
            new Payload(1, Payload.PayloadBase.NETWORK, 16, 1), Cmp.neq(Data.of(new byte[] {10}))));
  }

  @Test
  void portsAreRanges() {
    assertEquals(
        List.of(new Condition.Port(List.of(new PortRange(80, 80)))),
        conditions(PORT, Cmp.eq(Data.u16(80))));
    assertEquals(
        List.of(new Condition.Not(new Condition.Port(List.of(new PortRange(80, 90))))),
        conditions(PORT, new InRange(1, true, Data.u16(80), Data.u16(90))));
  }

  @Test
  void partOfAPortIsNotAPort() {
    List<Condition> odd =
        conditions(PORT, Bitwise.and(1, Data.u16(1)), Cmp.eq(Data.u16(1)), Verdict.ACCEPT);
    assertTrue(odd.getFirst() instanceof Condition.UnknownCondition, odd.toString());
  }

  @Test
  void aSetOfAddressesIsItsElements() {
    assertEquals(
        List.of(Condition.source(Cidr.of("10.1.0.0/16"))),
        conditions(Payload.IP_SADDR, Lookup.in("pods")));
    assertEquals(
        List.of(new Condition.UnknownCondition("set @pods")), conditions(PORT, Lookup.in("pods")));
    Bitwise mask = Bitwise.and(1, PREFIX);
    Condition masked = conditions(Payload.IP_SADDR, mask, Lookup.in("pods")).getFirst();
    assertTrue(
        masked.holds(Flow.to(Ip.of("8.8.8.8")), new Marks(0, 0)) == Truth.MAYBE, "" + masked);
  }

  @Test
  void theOtherFamilysRulesAreNone() {
    Expression[] six = {
      new Meta(Meta.MetaKey.NFPROTO), Cmp.eq(Meta.IPV6), new Masquerade(Set.of())
    };
    assertEquals(List.of(), read(six));
  }

  @Test
  void onlyTheWholeSourceIsAnIdentity() {
    assertEquals(new Action.Keep(), action(Payload.IP_SADDR, TO_REGISTER));
    for (Expression mask : List.of(Bitwise.and(1, PREFIX), new Unknown("rt", Data.u8(0)))) {
      Action action = action(Payload.IP_SADDR, mask, TO_REGISTER);
      assertTrue(action instanceof Action.UnknownAction, action.toString());
    }
    Action other = action(Payload.IP_DADDR, TO_REGISTER);
    assertTrue(other instanceof Action.UnknownAction, other.toString());
    assertEquals(
        new Action.Translate("snat", IpRange.parse("10.9.0.0")),
        action(new Immediate(1, NETWORK), TO_REGISTER));
  }

  @Test
  void whatCannotBeFollowedIsUnknown() {
    for (Expression load :
        List.of(
            new Meta(Meta.MetaKey.OIFGROUP),
            new Meta(Meta.MetaKey.SKUID),
            new Ct(1, Ct.CtKey.MARK),
            new Unknown("rt", Data.u8(0)),
            new Unknown("socket", Data.u8(0)))) {
      Condition last = conditions(load, Cmp.eq(Data.hostU32(0))).getLast();
      assertTrue(last instanceof Condition.UnknownCondition, load + ": " + last);
    }
    // The register is not what it was before, either.
    Expression shift = new Unknown("bitwise", Data.u8(0));
    Condition last = conditions(Payload.IP_DADDR, shift, Cmp.eq(NETWORK)).getLast();
    assertTrue(last instanceof Condition.UnknownCondition, "" + last);
  }

  @Test
  void aFirstPacketIsNewAndGoesWhereItWasSentTo() {
    Bitwise isNew = Bitwise.and(1, Data.hostU32(8));
    Bitwise dnat = Bitwise.and(1, Data.hostU32(0x20));
    Data none = Data.hostU32(0);
    assertEquals(List.of(), conditions(new Ct(1, Ct.CtKey.STATE), isNew, Cmp.neq(none)));
    assertEquals(List.of(), read(new Ct(1, Ct.CtKey.STATE), isNew, Cmp.eq(none)));
    assertEquals(List.of(), read(new Ct(1, Ct.CtKey.STATUS), dnat, Cmp.neq(none)));
  }

  @Test
  void rangesMayBeTwoComparisons() {
    Data last = Data.of(new byte[] {10, 9, 0, 7});
    List<Condition> both =
        conditions(
            Payload.IP_DADDR,
            new Cmp(1, Cmp.Operator.GTE, NETWORK),
            new Cmp(1, Cmp.Operator.LTE, last));
    assertEquals(Truth.YES, all(both, "10.9.0.3"));
    assertEquals(Truth.NO, all(both, "10.9.0.8"));
    assertEquals(Truth.NO, all(both, "10.8.255.255"));
  }

  @Test
  void theTextOfALongRuleIsCut() {
    Expression[] many = new Expression[200];
    Arrays.fill(many, Cmp.eq(NETWORK));
    many[0] = Payload.IP_DADDR;
    assertEquals(301, read(many).getFirst().text().length());
  }

  private static Truth all(List<Condition> conditions, String to) {
    Truth truth = Truth.YES;
    for (Condition condition : conditions) {
      Truth holds = condition.holds(Flow.to(Ip.of(to)), new Marks(0, 0));
      truth = holds.compareTo(truth) < 0 ? holds : truth;
    }
    return truth;
  }

  private static List<Condition> conditions(Expression... expressions) {
    return read(expressions).getFirst().conditions();
  }

  private static Action action(Expression... expressions) {
    return read(expressions).getFirst().action();
  }

  private static List<ipmasq.hook.Rule> read(Expression... expressions) {
    Rule rule = new Rule(TableNames.chain(Family.IPV4), List.of(expressions));
    byte[] first = {10, 1, 0, 0};
    byte[] last = {10, 1, -1, -1};
    Entry entry = new Entry(Optional.of(new Keys(first, last)), Optional.empty(), Optional.empty());
    return ForeignRule.read(
        rule,
        Family.IPV4,
        _ -> new Elements.AllElements(List.of(entry), new Nobody()),
        ForeignIpsets.unread(),
        false);
  }

  private record Nobody() implements ElementSet {
    @Override
    public String name() {
      return "@nobody";
    }

    @Override
    public ElementAnswer ask(byte[] key) {
      return new ElementAnswer.NoAnswer();
    }
  }
}
