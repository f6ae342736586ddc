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
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Sets the lists of one family, in all files, to the desired blocks. */
record ListWriter(AtomicFile atomic, Family family, Set<Cidr> wanted, boolean keepExtra) {

  /** Writes what differs; returns what could not be written. */
  Optional<Failure> write(CniFile file) {
    List<Edit> edits = new ArrayList<>();
    for (ExceptionList list : file.lists(family)) {
      boolean invalid = !keepExtra && !list.invalid().isEmpty();
      if (invalid || !List.copyOf(list.blocks(family)).equals(List.copyOf(wanted))) {
        edits.add(edit(file.document(), list, entries(list)));
      }
    }
    return edits.isEmpty() ? Optional.empty() : replace(file, edits);
  }

  Optional<Failure> add(CniFile file) {
    try {
      List<String> raws = wanted.stream().map(cidr -> Entry.of(cidr).raw()).toList();
      return replace(file, List.of(PolicyAddition.of(file.document(), raws)));
    } catch (MalformedJson e) {
      return Optional.of(
          new Failure(
              file.path() + ":" + file.document().place(e.at()) + ": " + e.what(),
              "the file is left alone; repair it by hand"));
    }
  }

  /** The new entries; existing ones keep their spelling. */
  private List<String> entries(ExceptionList list) {
    Map<Cidr, String> spelling = new HashMap<>();
    list.entries().forEach(e -> e.cidr().ifPresent(cidr -> spelling.putIfAbsent(cidr, e.raw())));
    List<String> ours = new ArrayList<>();
    for (Cidr cidr : wanted) {
      ours.add(spelling.getOrDefault(cidr, Entry.of(cidr).raw()));
    }
    List<String> others = new ArrayList<>();
    for (Entry entry : list.entries()) {
      if (entry.cidr().isPresent() ? !entry.isOf(family) : keepExtra) {
        others.add(entry.raw());
      }
    }
    List<String> all = new ArrayList<>(family == Family.IPV4 ? ours : others);
    all.addAll(family == Family.IPV4 ? others : ours);
    return all;
  }

  static Edit edit(JsonDocument document, ExceptionList list, List<String> raws) {
    JsonLayout layout = JsonLayout.of(document);
    return switch (list.location()) {
      case Location.Existing(var array) -> layout.list(array, raws);
      case Location.Missing(var object, var key, var inSettings) ->
          inSettings
              ? layout.append(
                  object, "Settings", NewJson.object(NewJson.field(key, NewJson.list(raws))))
              : layout.append(object, key, NewJson.list(raws));
    };
  }

  /**
   * Backup, owned entries, config, owned entries: at no point does the config hold an entry of the
   * agent that is not listed as owned; the last step drops surplus entries from the list.
   */
  private Optional<Failure> replace(CniFile file, List<Edit> edits) {
    byte[] bytes = file.document().with(edits);
    readBack(file, bytes);
    OwnedEntries before = file.owned().orElse(OwnedEntries.NONE);
    OwnedEntries after = after(file, before);
    try {
      if (file.backup().isEmpty()) {
        atomic.write(AtomicFile.backup(file.path()), file.document().bytes(), file.path());
      }
      OwnedEntries both = before.and(after.cidrs());
      writeOwned(file, file.owned(), both);
      atomic.write(file.path(), bytes, file.path());
      writeOwned(file, Optional.of(both), after);
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of(refused(file, e));
    }
  }

  static Failure refused(CniFile file, IOException e) {
    return new Failure(
        "cannot write " + file.path() + ": " + CniFiles.reason(e),
        "the agent must be allowed to write the file and to make files beside it");
  }

  private OwnedEntries after(CniFile file, OwnedEntries before) {
    Set<Cidr> own = new LinkedHashSet<>(wanted);
    if (keepExtra) {
      own.removeAll(file.extras(family));
    }
    before.cidrs().stream().filter(cidr -> cidr.family() != family).forEach(own::add);
    return new OwnedEntries(own);
  }

  private void writeOwned(CniFile file, Optional<OwnedEntries> is, OwnedEntries shall)
      throws IOException {
    if (!is.equals(Optional.of(shall))) {
      atomic.write(AtomicFile.owned(file.path()), shall.bytes(), file.path());
    }
  }

  /** Verifies that the text reads back as intended before it is written. */
  private void readBack(CniFile file, byte[] bytes) {
    try {
      JsonDocument document = JsonDocument.read(bytes);
      boolean meant =
          PolicyFinder.lists(document).stream()
              .filter(list -> list.holds(family))
              .allMatch(list -> list.blocks(family).equals(wanted));
      if (meant && !Arrays.equals(bytes, file.document().bytes())) {
        return;
      }
    } catch (MalformedJson e) {
      throw new IllegalStateException("our edit breaks " + file.path() + ": " + e.what(), e);
    }
    throw new IllegalStateException("our edit of " + file.path() + " says something else");
  }
}
