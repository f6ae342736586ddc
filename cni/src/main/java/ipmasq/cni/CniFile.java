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
 * A CNI config as it was read, with its companion files.
 *
 * @param backup the file as it was before the agent first wrote it
 * @param owned the entries that are the agent's; empty if it never wrote the file
 */
record CniFile(
    Path path,
    JsonDocument document,
    List<ExceptionList> lists,
    Optional<byte[]> backup,
    Optional<OwnedEntries> owned) {
  CniFile {
    lists = List.copyOf(lists);
  }

  /** The result of reading one. */
  sealed interface Read {
    record Whole(CniFile file) implements Read {}

    record Broken(Failure failure) implements Read {}
  }

  static Read read(Disk disk, Path path, byte[] bytes) throws IOException {
    try {
      JsonDocument document = JsonDocument.read(bytes);
      Optional<byte[]> owned = disk.read(AtomicFile.owned(path));
      return new Read.Whole(
          new CniFile(
              path,
              document,
              PolicyFinder.lists(document),
              disk.read(AtomicFile.backup(path)),
              owned.isPresent() ? Optional.of(OwnedEntries.read(owned)) : Optional.empty()));
    } catch (MalformedJson e) {
      return new Read.Broken(
          new Failure(
              path + ":" + JsonDocument.place(bytes, e.at()) + ": " + e.what(),
              "the file is left alone; repair it by hand"));
    }
  }

  List<ExceptionList> lists(Family family) {
    return lists.stream().filter(list -> list.holds(family)).toList();
  }

  /** How many bytes it has. */
  int size() {
    return document.size();
  }

  /** Whether the agent ever wrote here. */
  boolean touched() {
    return backup.isPresent() || owned.isPresent();
  }

  /** The blocks of a family that people put into the lists. */
  Set<Cidr> extras(Family family) {
    Set<Cidr> extras = new LinkedHashSet<>();
    lists(family).forEach(list -> extras.addAll(list.blocks(family)));
    extras.removeAll(owned.orElse(OwnedEntries.NONE).cidrs());
    return extras;
  }

  /** {@code path:line:column} of a list. */
  String place(ExceptionList list) {
    return path + ":" + document.place(list.at());
  }

  boolean dualStack() {
    try {
      return PolicyFinder.dualStack(document.root());
    } catch (MalformedJson e) {
      return false; // duplicate keys are not safe to edit
    }
  }
}
