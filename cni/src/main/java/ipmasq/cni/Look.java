package ipmasq.cni;

import ipmasq.cni.CniObserved.Held;
import ipmasq.cni.NatList.Entry;
import ipmasq.cni.Survey.Found;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import ipmasq.policy.Translation;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Reads files as a policy, and a policy as what such files can hold. Pure. */
record Look(Survey survey, boolean addPolicy, boolean keepExtra) {
  /** What OutBoundNAT does to a packet; a file has no say in it. */
  private static final Translation TRANSLATION =
      new Translation(Optional.empty(), List.of(), false);

  CniObserved observed(Family family) {
    List<Found> lists = survey.lists(family);
    List<Held> held = new ArrayList<>();
    for (Found found : lists) {
      NatList list = found.list();
      List<String> strays = list.strays().stream().map(Entry::raw).toList();
      held.add(new Held(found.file().path(), list.blocks(family), strays));
    }
    List<String> flaws = new ArrayList<>();
    return switch (survey.reach(family, addPolicy)) {
      case HELD -> {
        flaws(family, lists, flaws);
        Policy policy = exempting(family, lists.getFirst().list().blocks(family));
        yield new CniObserved(
            family, Optional.of(policy), flaws, untouched(family), held, this, List.of());
      }
      case MISSING -> {
        flaws.add(
            "there is no OutBoundNAT policy"
                + (addPolicy ? "" : " (it is added only with --cni-add-policy)"));
        broken(flaws);
        yield new CniObserved(
            family, Optional.empty(), flaws, untouched(family), held, this, List.of());
      }
      case BEYOND ->
          new CniObserved(
              family, Optional.of(untranslated(family)), List.of(), true, held, this, List.of());
    };
  }

  private void flaws(Family family, List<Found> lists, List<String> flaws) {
    Found first = lists.getFirst();
    for (Found found : lists) {
      if (!found.list().blocks(family).equals(first.list().blocks(family))) {
        flaws.add("the list at " + place(found) + " is not the same as the one at " + place(first));
      }
      if (!keepExtra) {
        found
            .list()
            .strays()
            .forEach(
                stray -> flaws.add(place(found) + " has an entry that is no CIDR: " + stray.raw()));
      }
    }
    broken(flaws);
  }

  private void broken(List<String> flaws) {
    survey.broken().forEach(failure -> flaws.add(failure.message()));
  }

  private static String place(Found found) {
    return found.file().place(found.list());
  }

  /**
   * Whether there is nothing to take back. What is left beside a file when its lists are as before
   * goes with whichever family is asked; the other family's changes are not this one's business.
   */
  private boolean untouched(Family family) {
    Family other = family == Family.IPV4 ? Family.IPV6 : Family.IPV4;
    return survey.files().stream()
        .filter(CniFile::touched)
        .allMatch(file -> !Restoring.differs(file, family) && Restoring.differs(file, other));
  }

  /** The policy in the form in which the files can hold it. */
  Policy form(Policy policy) {
    Family family = policy.family();
    if (survey.reach(family, addPolicy) == Survey.Reach.BEYOND) {
      return untranslated(family);
    }
    Set<Cidr> blocks = new LinkedHashSet<>();
    boolean plain = policy.destinations().stream().allMatch(d -> d.treatment() == Treatment.EXEMPT);
    if (plain) {
      policy.destinations().forEach(destination -> blocks.add(destination.range()));
    } else {
      blocks.addAll(policy.exempt());
    }
    if (keepExtra) {
      blocks.addAll(survey.extras(family));
    }
    return new Policy(
        family,
        policy.sources(),
        policy.interfaces(),
        exempting(family, inTheirOrder(family, blocks)).destinations(),
        new Translation(policy.translation().addresses(), policy.translation().ports(), false));
  }

  /** The order says nothing here, so it alone is no reason to write. */
  private Collection<Cidr> inTheirOrder(Family family, Set<Cidr> blocks) {
    List<Found> lists = survey.lists(family);
    if (lists.isEmpty()) {
      return blocks;
    }
    Set<Cidr> standing = lists.getFirst().list().blocks(family);
    return standing.equals(blocks) ? standing : blocks;
  }

  private static Policy exempting(Family family, Collection<Cidr> blocks) {
    return new Policy(
        family,
        List.of(),
        List.of(),
        blocks.stream().map(cidr -> new Destination(cidr, Treatment.EXEMPT)).toList(),
        TRANSLATION);
  }

  /** Without an OutBoundNAT policy for a family all its packets keep their source. */
  private static Policy untranslated(Family family) {
    return exempting(family, List.of(new Cidr(Ip.ofBytes(new byte[family.bytes()]), 0)));
  }
}
