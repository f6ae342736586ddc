package ipmasq.cni;

import ipmasq.backend.Failure;
import ipmasq.json.MalformedJson;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A CNI config as it was read, with what stands beside it.
 *
 * @param backup the file as it was before the agent first wrote it
 * @param memory empty where the agent never wrote it
 */
record CniFile(
    Path path,
    Document document,
    List<NatList> lists,
    Optional<byte[]> backup,
    Optional<Memory> memory) {
  CniFile {
    lists = List.copyOf(lists);
  }

  /** What came of reading one. */
  sealed interface Read {
    record Whole(CniFile file) implements Read {}

    record Broken(Failure failure) implements Read {}
  }

  static Read read(Disk disk, Path path, byte[] bytes) throws IOException {
    try {
      Document document = Document.read(bytes);
      Optional<byte[]> memory = disk.read(WholeFile.memory(path));
      return new Read.Whole(
          new CniFile(
              path,
              document,
              Shapes.lists(document),
              disk.read(WholeFile.backup(path)),
              memory.isPresent() ? Optional.of(Memory.read(memory)) : Optional.empty()));
    } catch (MalformedJson e) {
      return new Read.Broken(
          new Failure(
              path + ":" + Document.place(bytes, e.at()) + ": " + e.what(),
              "the file is left alone; mend it by hand"));
    }
  }

  List<NatList> lists(Family family) {
    return lists.stream().filter(list -> list.holds(family)).toList();
  }

  /** Whether the agent ever wrote here. */
  boolean touched() {
    return backup.isPresent() || memory.isPresent();
  }

  /** The blocks of a family that people put into the lists. */
  Set<Cidr> extras(Family family) {
    Set<Cidr> extras = new LinkedHashSet<>();
    lists(family).forEach(list -> extras.addAll(list.blocks(family)));
    extras.removeAll(memory.orElse(Memory.NONE).own());
    return extras;
  }

  /** {@code path:line:column} of a list. */
  String place(NatList list) {
    return path + ":" + document.place(list.at());
  }

  boolean dualStack() {
    try {
      return Shapes.dualStack(document.root());
    } catch (MalformedJson e) {
      return false; // two keys of one name: nothing we should build on
    }
  }
}
