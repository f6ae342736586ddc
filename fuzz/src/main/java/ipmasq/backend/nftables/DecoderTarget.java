package ipmasq.backend.nftables;

import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.nftables.Rule;
import ipmasq.netlink.nftables.Rules;
import ipmasq.policy.Policy;
import java.util.List;
import java.util.Optional;

/** Rules, whatever they are, are a policy that lays out to the same rules, or none. */
public final class DecoderTarget {
  private static final Cidrs BLOCKS = Cidrs.copyOf(List.of(Cidr.of("10.0.0.0/8")));

  private DecoderTarget() {}

  public static void fuzzerTestOneInput(byte[] data) {
    List<Rule> rules;
    try {
      rules = Rules.read(data);
    } catch (MalformedMessage malformed) {
      return;
    }
    List<ChainRules> chains = List.of(new ChainRules(TableNames.chain(Family.IPV4), rules));
    Optional<Policy> policy = PolicyDecoder.policy(Family.IPV4, chains, BLOCKS, Cidrs.NONE);
    if (policy.isPresent()
        && !NftablesLayout.chains(policy.get()).getFirst().sameAs(chains.getFirst())) {
      throw new AssertionError(policy.get().toString());
    }
  }
}
