package ipmasq.cni;

import ipmasq.cni.CniFiles.ListInFile;
import ipmasq.cni.CniObserved.ListContent;
import ipmasq.cni.ExceptionList.Entry;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
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

/** Maps files to a policy, and a policy to what such files can hold. Pure. */
record PolicyMapping(CniFiles files, boolean addPolicy, boolean keepExtra) {
  /** What OutBoundNAT does to a packet; a file has no say in it. */
  private static final Translation TRANSLATION =
      new Translation(Optional.empty(), List.of(), false);

  CniObserved observed(Family family) {
    List<ListInFile> lists = files.lists(family);
    List<ListContent> contents = new ArrayList<>();
    for (ListInFile found : lists) {
      ExceptionList list = found.list();
      List<String> invalid = list.invalid().stream().map(Entry::raw).toList();
      contents.add(new ListContent(found.file().path(), list.blocks(family), invalid));
    }
    List<String> flaws = new ArrayList<>();
    return switch (files.coverage(family, addPolicy)) {
      case PRESENT -> {
        flaws(family, lists, flaws);
        Policy policy = exempting(family, lists.getFirst().list().blocks(family));
        yield new CniObserved(
            family, Optional.of(policy), flaws, untouched(family), contents, this, List.of());
      }
      case MISSING -> {
        flaws.add(
            "there is no OutBoundNAT policy"
                + (addPolicy ? "" : " (it is added only with --cni-add-policy)"));
        broken(flaws);
        yield new CniObserved(
            family, Optional.empty(), flaws, untouched(family), contents, this, List.of());
      }
      case NOT_NEEDED ->
          new CniObserved(
              family,
              Optional.of(untranslated(family)),
              List.of(),
              true,
              contents,
              this,
              List.of());
    };
  }

  private void flaws(Family family, List<ListInFile> lists, List<String> flaws) {
    ListInFile first = lists.getFirst();
    for (ListInFile found : lists) {
      if (!found.list().blocks(family).equals(first.list().blocks(family))) {
        flaws.add("the list at " + place(found) + " is not the same as the one at " + place(first));
      }
      if (!keepExtra) {
        found
            .list()
            .invalid()
            .forEach(
                entry -> flaws.add(place(found) + " has an entry that is no CIDR: " + entry.raw()));
      }
    }
    broken(flaws);
  }

  private void broken(List<String> flaws) {
    files.broken().forEach(failure -> flaws.add(failure.message()));
  }

  private static String place(ListInFile found) {
    return found.file().place(found.list());
  }

  /**
   * Whether there is nothing to revert. Companion files of lists that are unchanged go with either
   * family; the other family's changes do not count here.
   */
  private boolean untouched(Family family) {
    Family other = family == Family.IPV4 ? Family.IPV6 : Family.IPV4;
    return files.all().stream()
        .filter(CniFile::touched)
        .allMatch(file -> !ListRestorer.differs(file, family) && ListRestorer.differs(file, other));
  }

  /** The policy in the form in which the files can hold it. */
  Policy normalize(Policy policy) {
    Family family = policy.family();
    if (files.coverage(family, addPolicy) == CniFiles.Coverage.NOT_NEEDED) {
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
      blocks.addAll(files.extras(family));
    }
    return new Policy(
        family,
        policy.sources(),
        policy.interfaces(),
        exempting(family, inOrderOfFile(family, blocks)).destinations(),
        new Translation(policy.translation().addresses(), policy.translation().ports(), false));
  }

  /** The order has no meaning here, so a different order is no reason to write. */
  private Collection<Cidr> inOrderOfFile(Family family, Set<Cidr> blocks) {
    List<ListInFile> lists = files.lists(family);
    if (lists.isEmpty()) {
      return blocks;
    }
    Set<Cidr> listed = lists.getFirst().list().blocks(family);
    return listed.equals(blocks) ? listed : blocks;
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
    return exempting(family, List.of(family.all()));
  }
}
