package ipmasq.cni;

import ipmasq.backend.Failure;
import ipmasq.cni.Document.Edit;
import ipmasq.cni.NatList.Entry;
import ipmasq.cni.NatList.Spot;
import ipmasq.json.MalformedJson;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Takes back what the agent did to the lists of one family. They become what they were in the
 * backup, not empty: an empty list would translate even what pods say to each other. All else in
 * the file stays as it is now.
 */
record Restoring(WholeFile whole, Family family, boolean keepExtra) {

  Optional<Failure> lists(CniFile file) {
    if (!file.touched()) {
      return Optional.empty();
    }
    try {
      if (file.backup().isPresent()) {
        Document before = Document.read(file.backup().get());
        byte[] bytes = restored(file, before);
        if (!file.document().spells(bytes)) {
          whole.write(file.path(), bytes, file.path());
        }
      }
      forget(file);
      return Optional.empty();
    } catch (MalformedJson e) {
      return Optional.of(
          new Failure(
              WholeFile.backup(file.path()) + " cannot be used: " + e.what(),
              "edit the list by hand and delete that file and "
                  + WholeFile.memory(file.path()).getFileName()));
    } catch (IOException e) {
      return Optional.of(Writing.refused(file, e));
    }
  }

  private byte[] restored(CniFile file, Document before) throws MalformedJson {
    List<NatList> now = file.lists(family);
    List<NatList> then = ofFamily(Shapes.lists(before), family);
    if (then.isEmpty() && now.size() == 1) {
      return withoutPolicy(file, before, now.getFirst());
    }
    if (now.size() != then.size()) {
      throw new MalformedJson(
          0, "it has " + then.size() + " lists for " + family + ", the file has " + now.size());
    }
    List<Edit> edits = new ArrayList<>();
    for (int i = 0; i < now.size(); i++) {
      if (!now.get(i).raws().equals(then.get(i).raws())) {
        edits.add(restored(file, now.get(i), before, then.get(i)));
      }
    }
    return file.document().with(edits);
  }

  private Edit restored(CniFile file, NatList now, Document before, NatList then) {
    Set<Cidr> extras = extras(file, now);
    extras.removeAll(then.blocks(family));
    if (extras.isEmpty()
        && now.spot() instanceof Spot.Over(var array)
        && then.spot() instanceof Spot.Over(var original)) {
      return new Edit(array.from(), array.to(), before.text(original));
    }
    List<String> raws = new ArrayList<>(then.raws());
    extras.forEach(cidr -> raws.add(Entry.of(cidr).raw()));
    return Writing.edit(file.document(), now, raws);
  }

  /** What people put into a list, where it is to be kept. */
  private Set<Cidr> extras(CniFile file, NatList list) {
    Set<Cidr> extras = new LinkedHashSet<>(list.blocks(family));
    extras.retainAll(keepExtra ? file.extras(family) : Set.of());
    return extras;
  }

  /** The policy was not there before. Where nothing else changed since, the file is as it was. */
  private byte[] withoutPolicy(CniFile file, Document before, NatList list) throws MalformedJson {
    Set<Cidr> extras = extras(file, list);
    if (!extras.isEmpty()) {
      List<String> raws = extras.stream().map(cidr -> Entry.of(cidr).raw()).toList();
      return file.document().with(List.of(Writing.edit(file.document(), list, raws)));
    }
    byte[] asAdded = before.with(List.of(Addition.of(before, list.raws())));
    return file.document().spells(asAdded)
        ? before.bytes()
        : file.document()
            .with(List.of(Layout.without(list.element().array(), list.element().index())));
  }

  /** The backup goes last: while it is there, what is left can be taken back again. */
  private void forget(CniFile file) throws IOException {
    Family other = family == Family.IPV4 ? Family.IPV6 : Family.IPV4;
    if (!differs(file, other)) {
      whole.sweep(file.path());
      whole.delete(WholeFile.memory(file.path()));
      whole.delete(WholeFile.backup(file.path()));
    }
  }

  /** Whether the lists of a family are others than in the backup. */
  static boolean differs(CniFile file, Family family) {
    if (file.backup().isEmpty()) {
      return false;
    }
    try {
      List<NatList> then = ofFamily(Shapes.lists(Document.read(file.backup().get())), family);
      return !file.lists(family).stream()
          .map(NatList::raws)
          .toList()
          .equals(then.stream().map(NatList::raws).toList());
    } catch (MalformedJson e) {
      return true;
    }
  }

  private static List<NatList> ofFamily(List<NatList> lists, Family family) {
    return lists.stream().filter(list -> list.holds(family)).toList();
  }
}
