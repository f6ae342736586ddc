package ipmasq.cni;

import ipmasq.backend.Failure;
import ipmasq.cni.ExceptionList.Entry;
import ipmasq.cni.ExceptionList.Location;
import ipmasq.cni.JsonDocument.Edit;
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
 * Reverts the agent's changes to the lists of one family. They become what they were in the backup,
 * not empty: with an empty list even traffic between pods would be translated. Everything else in
 * the file stays as it is now.
 */
record ListRestorer(AtomicFile atomic, Family family, boolean keepExtra) {

  Optional<Failure> restore(CniFile file) {
    if (!file.touched()) {
      return Optional.empty();
    }
    try {
      if (file.backup().isPresent()) {
        JsonDocument before = JsonDocument.read(file.backup().get());
        byte[] bytes = restored(file, before);
        if (!file.document().spells(bytes)) {
          atomic.write(file.path(), bytes, file.path());
        }
      }
      forget(file);
      return Optional.empty();
    } catch (MalformedJson e) {
      return Optional.of(
          new Failure(
              AtomicFile.backup(file.path()) + " cannot be used: " + e.what(),
              "edit the list by hand and delete that file and "
                  + AtomicFile.owned(file.path()).getFileName()));
    } catch (IOException e) {
      return Optional.of(ListWriter.refused(file, e));
    }
  }

  private byte[] restored(CniFile file, JsonDocument before) throws MalformedJson {
    List<ExceptionList> now = file.lists(family);
    List<ExceptionList> then = ofFamily(PolicyFinder.lists(before), family);
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

  private Edit restored(CniFile file, ExceptionList now, JsonDocument before, ExceptionList then) {
    Set<Cidr> extras = extras(file, now);
    extras.removeAll(then.blocks(family));
    if (extras.isEmpty()
        && now.location() instanceof Location.Existing(var array)
        && then.location() instanceof Location.Existing(var original)) {
      return new Edit(array.from(), array.to(), before.text(original));
    }
    List<String> raws = new ArrayList<>(then.raws());
    extras.forEach(cidr -> raws.add(Entry.of(cidr).raw()));
    return ListWriter.edit(file.document(), now, raws);
  }

  /** The entries that people put into a list, if they are to be kept. */
  private Set<Cidr> extras(CniFile file, ExceptionList list) {
    Set<Cidr> extras = new LinkedHashSet<>(list.blocks(family));
    extras.retainAll(keepExtra ? file.extras(family) : Set.of());
    return extras;
  }

  /**
   * The policy was added by the agent. If nothing else changed since, the original file is
   * restored.
   */
  private byte[] withoutPolicy(CniFile file, JsonDocument before, ExceptionList list)
      throws MalformedJson {
    Set<Cidr> extras = extras(file, list);
    if (!extras.isEmpty()) {
      List<String> raws = extras.stream().map(cidr -> Entry.of(cidr).raw()).toList();
      return file.document().with(List.of(ListWriter.edit(file.document(), list, raws)));
    }
    byte[] asAdded = before.with(List.of(PolicyAddition.of(before, list.raws())));
    return file.document().spells(asAdded)
        ? before.bytes()
        : file.document()
            .with(List.of(JsonLayout.without(list.element().array(), list.element().index())));
  }

  /** The backup is deleted last: while it exists, the rest can still be reverted. */
  private void forget(CniFile file) throws IOException {
    Family other = family == Family.IPV4 ? Family.IPV6 : Family.IPV4;
    if (!differs(file, other)) {
      atomic.deleteTemporaries(file.path());
      atomic.delete(AtomicFile.owned(file.path()));
      atomic.delete(AtomicFile.backup(file.path()));
    }
  }

  /** Whether the lists of a family are others than in the backup. */
  static boolean differs(CniFile file, Family family) {
    if (file.backup().isEmpty()) {
      return false;
    }
    try {
      List<ExceptionList> then =
          ofFamily(PolicyFinder.lists(JsonDocument.read(file.backup().get())), family);
      return !file.lists(family).stream()
          .map(ExceptionList::raws)
          .toList()
          .equals(then.stream().map(ExceptionList::raws).toList());
    } catch (MalformedJson e) {
      return true;
    }
  }

  private static List<ExceptionList> ofFamily(List<ExceptionList> lists, Family family) {
    return lists.stream().filter(list -> list.holds(family)).toList();
  }
}
