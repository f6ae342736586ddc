package ipmasq.backend.nftables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.hook.Action;
import ipmasq.hook.Condition;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import ipmasq.netlink.nftables.Bitwise;
import ipmasq.netlink.nftables.Cmp;
import ipmasq.netlink.nftables.Data;
import ipmasq.netlink.nftables.Expression;
import ipmasq.netlink.nftables.InRange;
import ipmasq.netlink.nftables.Lookup;
import ipmasq.netlink.nftables.Masquerade;
import ipmasq.netlink.nftables.Meta;
import ipmasq.netlink.nftables.Nat;
import ipmasq.netlink.nftables.Payload;
import ipmasq.netlink.nftables.Rule;
import ipmasq.netlink.nftables.TableFamily;
import ipmasq.netlink.nftables.Verdict;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What is made of anybody's expressions. */
class ForeignRuleTest {
  private static final Payload PORT = new Payload(1, Payload.Base.TRANSPORT, 2, 2);
  private static final Data PREFIX = Data.of(new byte[] {(byte) 255, (byte) 255, 0, 0});
  private static final Data NETWORK = Data.of(new byte[] {10, 9, 0, 0});
  private static final Nat TO_REGISTER =
      new Nat(Nat.Kind.SNAT, TableFamily.IP, 1, 1, 0, 0, Set.of());

  @Test
  void addressesAreBlocksByTheirMask() {
    assertEquals(
        List.of(Condition.source(Cidr.of("10.9.0.0/16"))),
        conditions(Payload.IP_SADDR, Bitwise.and(1, PREFIX), Cmp.eq(NETWORK)));
    assertEquals(
        List.of(new Condition.Not(Condition.destination(Cidr.of("10.0.0.0/8")))),
        conditions(new Payload(1, Payload.Base.NETWORK, 16, 1), Cmp.neq(Data.of(new byte[] {10}))));
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
    assertTrue(odd.getFirst() instanceof Condition.Unknown, odd.toString());
  }

  @Test
  void aSetOfAddressesIsItsElements() {
    assertEquals(
        List.of(new Condition.Source(List.of(IpRange.of(Cidr.of("10.1.0.0/16"))))),
        conditions(Payload.IP_SADDR, Lookup.in("pods")));
    assertEquals(List.of(new Condition.Unknown("set @pods")), conditions(PORT, Lookup.in("pods")));
  }

  @Test
  void theOtherFamilysRulesAreNone() {
    Expression[] six = {new Meta(Meta.Key.NFPROTO), Cmp.eq(Meta.IPV6), new Masquerade(Set.of())};
    assertEquals(Optional.empty(), read(six));
  }

  @Test
  void onlyTheWholeSourceIsAnIdentity() {
    assertEquals(new Action.Keep(), action(Payload.IP_SADDR, TO_REGISTER));
    assertEquals(
        new Action.Translate("snat"),
        action(Payload.IP_SADDR, Bitwise.and(1, PREFIX), TO_REGISTER));
    assertEquals(new Action.Translate("snat"), action(Payload.IP_DADDR, TO_REGISTER));
  }

  private static List<Condition> conditions(Expression... expressions) {
    return read(expressions).orElseThrow().conditions();
  }

  private static Action action(Expression... expressions) {
    return read(expressions).orElseThrow().action();
  }

  private static Optional<ipmasq.hook.Rule> read(Expression... expressions) {
    Rule rule = new Rule(Names.chain(Family.IPV4), List.of(expressions));
    return ForeignRule.read(
        rule, Family.IPV4, _ -> Optional.of(List.of(IpRange.of(Cidr.of("10.1.0.0/16")))));
  }
}
