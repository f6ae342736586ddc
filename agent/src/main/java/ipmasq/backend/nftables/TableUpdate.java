package ipmasq.backend.nftables;

import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import ipmasq.netlink.nftables.Batch;
import ipmasq.netlink.nftables.Element;
import ipmasq.netlink.nftables.NftSet;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * The transactions that lead from the observed table to a policy.
 *
 * <p>A new set is filled in a first one, and used by rules only in a second: where both come in
 * one, packets meet the rules for a moment before the set answers. A set that is in use is changed
 * in place, range by range. So there is no moment in which a packet finds less than the old or the
 * new policy. Only what others made wrong is deleted and made again: a table with a set of another
 * type, a chain on another hook.
 */
record TableUpdate(Batch first, Batch second) {
  /**
   * Sets up to this size have a counter per range; in larger ones that would cost too much memory.
   */
  static final int COUNTED = 4096;

  /**
   * The steps toward a policy in the form that {@link Policy#disjoint} gives it.
   *
   * @param claim whether to create the table or become its owner
   * @param features features for a table and sets that are created
   */
  static TableUpdate toward(
      Policy policy, NftablesObserved found, boolean claim, KernelFeatures features) {
    Family family = policy.family();
    Batch first = new Batch();
    Batch second = new Batch();
    if (found.foreign()) {
      first.delete(TableNames.TABLE);
    }
    NftablesObserved observed = found.foreign() ? NftablesObserved.nothing(family) : found;
    if (claim) {
      first.add(features.table());
    }
    Cidrs exempt = exempt(policy);
    set(features.set(TableNames.exempt(family), exempt), observed.exempt(), exempt, first, second);
    if (!policy.sources().isEmpty()) {
      Cidrs sources = Cidrs.copyOf(policy.sources());
      set(
          features.set(TableNames.sources(family), sources),
          observed.sources(),
          sources,
          first,
          second);
    }
    chains(policy, observed, second);
    observed.strays().delete(second); // rules in our chains may have led to them
    if (policy.sources().isEmpty() && observed.sources().isPresent()) {
      second.delete(TableNames.sources(family));
    }
    return new TableUpdate(first, second);
  }

  /**
   * The step that removes a family.
   *
   * @param last whether the table holds nothing else, so that it is deleted too
   */
  static Batch removal(NftablesObserved observed, boolean last) {
    Batch batch = new Batch();
    if (last || observed.foreign()) {
      batch.delete(TableNames.TABLE);
    } else {
      observed.chains().forEach(chain -> batch.delete(chain.chain()));
      observed.exempt().ifPresent(_ -> batch.delete(TableNames.exempt(observed.family())));
      observed.sources().ifPresent(_ -> batch.delete(TableNames.sources(observed.family())));
      observed.strays().delete(batch);
    }
    return batch;
  }

  /** The content of the set of destinations. */
  static Cidrs exempt(Policy disjoint) {
    return Cidrs.copyOf(disjoint.destinations().stream().map(Destination::range).toList());
  }

  private static void set(
      NftSet set, Optional<SetContent> observed, Cidrs desired, Batch first, Batch second) {
    if (observed.isEmpty()) {
      first.add(set);
      first.add(set, elements(desired));
      return;
    }
    if (observed.get().odd()) {
      second.flush(set).add(set, elements(desired));
      return;
    }
    List<Cidr> gone = new ArrayList<>();
    List<Cidr> come = new ArrayList<>();
    difference(observed.get().blocks(), desired, gone, come);
    second.delete(set, elements(gone));
    second.add(set, elements(come));
  }

  private static void chains(Policy policy, NftablesObserved observed, Batch batch) {
    List<ChainRules> desired = NftablesLayout.chains(policy);
    for (ChainRules old : observed.chains()) {
      if (desired.stream().noneMatch(chain -> chain.name().equals(old.name()))) {
        batch.delete(old.chain());
      }
    }
    for (ChainRules chain : desired) {
      Optional<ChainRules> old = observed.chain(chain.name());
      if (old.isPresent() && chain.sameAs(old.get())) {
        continue;
      }
      if (old.isPresent() && !chain.sameHook(old.get())) {
        batch.delete(chain.chain()); // its hook cannot be changed in place
      }
      batch.add(chain.chain()).flush(chain.chain());
      chain.rules().forEach(batch::add);
    }
  }

  /** The elements that are in only one of two sorted lists. */
  private static void difference(Cidrs before, Cidrs after, List<Cidr> gone, List<Cidr> come) {
    int i = 0;
    int j = 0;
    while (i < before.size() || j < after.size()) {
      int order =
          i == before.size() ? 1 : j == after.size() ? -1 : before.get(i).compareTo(after.get(j));
      if (order < 0) {
        gone.add(before.get(i++));
      } else if (order > 0) {
        come.add(after.get(j++));
      } else {
        i++;
        j++;
      }
    }
  }

  private static Iterator<Element.Range> elements(List<Cidr> blocks) {
    return blocks.stream()
        .map(block -> new Element.Range(block.first().bytes(), block.last().bytes()))
        .iterator();
  }
}
