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
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Brings the lists of one family, in all files, to the blocks that are wanted. */
record Writing(WholeFile whole, Family family, Set<Cidr> wanted, boolean keepExtra) {

  /** Writes what differs; what could not be written is said. */
  Optional<Failure> lists(CniFile file) {
    List<Edit> edits = new ArrayList<>();
    for (NatList list : file.lists(family)) {
      boolean strays = !keepExtra && !list.strays().isEmpty();
      if (strays || !List.copyOf(list.blocks(family)).equals(List.copyOf(wanted))) {
        edits.add(edit(file.document(), list, entries(list)));
      }
    }
    return edits.isEmpty() ? Optional.empty() : write(file, edits);
  }

  Optional<Failure> addition(CniFile file) {
    try {
      List<String> raws = wanted.stream().map(cidr -> Entry.of(cidr).raw()).toList();
      return write(file, List.of(Addition.of(file.document(), raws)));
    } catch (MalformedJson e) {
      return Optional.of(
          new Failure(
              file.path() + ":" + file.document().place(e.at()) + ": " + e.what(),
              "the file is left alone; mend it by hand"));
    }
  }

  /** The new entries; those that stand there already keep their spelling. */
  private List<String> entries(NatList list) {
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

  static Edit edit(Document document, NatList list, List<String> raws) {
    Layout layout = Layout.of(document);
    return switch (list.spot()) {
      case Spot.Over(var array) -> layout.list(array, raws);
      case Spot.Into(var object, var key, var inSettings) ->
          inSettings
              ? layout.append(object, "Settings", Fresh.object(Fresh.field(key, Fresh.list(raws))))
              : layout.append(object, key, Fresh.list(raws));
    };
  }

  /**
   * Backup, memory, file, memory: at no point is an entry of ours in the file without the memory
   * knowing it, and what the memory knows too much goes with the last step.
   */
  private Optional<Failure> write(CniFile file, List<Edit> edits) {
    byte[] bytes = file.document().with(edits);
    readBack(file, bytes);
    Memory before = file.memory().orElse(Memory.NONE);
    Memory after = after(file, before);
    try {
      if (file.backup().isEmpty()) {
        whole.write(WholeFile.backup(file.path()), file.document().bytes(), file.path());
      }
      Memory both = before.and(after.own());
      remember(file, file.memory(), both);
      whole.write(file.path(), bytes, file.path());
      remember(file, Optional.of(both), after);
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of(refused(file, e));
    }
  }

  static Failure refused(CniFile file, IOException e) {
    return new Failure(
        "cannot write " + file.path() + ": " + e,
        "the agent must be allowed to write the file and to make files beside it");
  }

  private Memory after(CniFile file, Memory before) {
    Set<Cidr> own = new LinkedHashSet<>(wanted);
    if (keepExtra) {
      own.removeAll(file.extras(family));
    }
    before.own().stream().filter(cidr -> cidr.family() != family).forEach(own::add);
    return new Memory(own);
  }

  private void remember(CniFile file, Optional<Memory> is, Memory shall) throws IOException {
    if (!is.equals(Optional.of(shall))) {
      whole.write(WholeFile.memory(file.path()), shall.bytes(), file.path());
    }
  }

  /** Nothing is written that would not be read as what was meant. */
  private void readBack(CniFile file, byte[] bytes) {
    try {
      Document document = Document.read(bytes);
      boolean meant =
          Shapes.lists(document).stream()
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
