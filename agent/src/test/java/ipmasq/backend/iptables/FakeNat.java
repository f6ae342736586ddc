package ipmasq.backend.iptables;

import ipmasq.net.Family;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** A nat table of chains and how often each is used. */
final class FakeNat implements NatTable {
  final Map<String, Use> chains = new HashMap<>();
  boolean dormant;

  /** A chain that is there when it is first asked for, and then no more. */
  String vanishes = "";

  @Override
  public NatAnswer<Optional<Use>> chain(Family family, String name) {
    Use use = name.equals(vanishes) ? chains.remove(name) : chains.get(name);
    return new NatAnswer.Known<>(Optional.ofNullable(use));
  }

  @Override
  public boolean isDormant(Family family) {
    return dormant;
  }
}
