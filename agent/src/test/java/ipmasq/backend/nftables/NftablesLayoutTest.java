package ipmasq.backend.nftables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import ipmasq.net.Family;
import ipmasq.netlink.nftables.Rule;
import ipmasq.policy.Policy;
import ipmasq.testkit.Policies;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class NftablesLayoutTest {
  private static final NftablesBackend BACKEND = NftablesBackend.withoutOwner();

  @Test
  void readingBackIsTheOppositeOfLayingOut() {
    Random random = new Random(11);
    for (int i = 0; i < 500; i++) {
      Policy policy = BACKEND.normalize(generated(random));
      assertEquals(Optional.of(policy), decoded(policy, NftablesLayout.chains(policy)));
    }
  }

  @Test
  void aRuleMoreOrLessOrOutOfOrderIsNoPolicy() {
    Random random = new Random(12);
    for (int i = 0; i < 200; i++) {
      Policy policy = BACKEND.normalize(generated(random));
      for (ChainRules chain : NftablesLayout.chains(policy)) {
        assertUnread(policy, chain, without(chain.rules(), random.nextInt(chain.rules().size())));
        List<Rule> more = new ArrayList<>(chain.rules());
        more.add(random.nextInt(more.size() + 1), chain.rules().getFirst());
        assertUnread(policy, chain, more);
        if (!chain.rules().reversed().equals(chain.rules())) {
          assertUnread(policy, chain, chain.rules().reversed());
        }
      }
    }
  }

  @Test
  void aChainElsewhereIsNoPolicy() {
    Policy policy = Policies.exempting("10.0.0.0/8");
    ChainRules chain = NftablesLayout.chains(policy).getFirst();
    ChainRules later = new ChainRules(TableNames.pin(Family.IPV4), chain.rules());
    ChainRules named =
        new ChainRules(
            new ipmasq.netlink.nftables.Chain(
                chain.chain().family(), chain.chain().table(), chain.name(), later.chain().base()),
            chain.rules());
    assertEquals(Optional.empty(), decoded(policy, List.of(named)));
    assertEquals(Optional.empty(), decoded(policy, List.of()));
  }

  static Policy generated(Random random) {
    Policy policy = Policies.random(random);
    return random.nextInt(3) == 0 ? Policies.pinned(policy) : policy;
  }

  /** It may still be a policy, but another one. */
  private static void assertUnread(Policy policy, ChainRules chain, List<Rule> rules) {
    List<ChainRules> chains = new ArrayList<>(NftablesLayout.chains(policy));
    chains.replaceAll(c -> c.name().equals(chain.name()) ? new ChainRules(c.chain(), rules) : c);
    assertNotEquals(Optional.of(policy), decoded(policy, chains), rules.toString());
  }

  private static List<Rule> without(List<Rule> rules, int index) {
    List<Rule> rest = new ArrayList<>(rules);
    rest.remove(index);
    return rest;
  }

  private static Optional<Policy> decoded(Policy policy, List<ChainRules> chains) {
    return PolicyDecoder.policy(
        policy.family(), chains, TableUpdate.exempt(policy), policy.sources());
  }
}
