package ipmasq.backend.iptables;

import ipmasq.net.Family;
import java.util.HashMap;
import java.util.Map;

/** A nat table of chains and how often each is used. */
final class FakeNat extends NatTable {
  final Map<String, NatChain.There> chains = new HashMap<>();
  boolean dormant;

  /** A chain that is there when it is first asked for, and then no more. */
  String vanishes = "";

  @Override
  NatChain chain(Family family, String name) {
    NatChain.There there = name.equals(vanishes) ? chains.remove(name) : chains.get(name);
    return there == null ? new NatChain.Missing() : there;
  }

  @Override
  boolean isDormant(Family family) {
    return dormant;
  }
}
