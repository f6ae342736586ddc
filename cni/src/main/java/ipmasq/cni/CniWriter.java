package ipmasq.cni;

import ipmasq.backend.Failure;
import ipmasq.cni.ExceptionList.Entry;
import ipmasq.json.MalformedJson;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Writes the list of one family, and puts it back as it was. */
record CniWriter(AtomicFile atomic, CniConfig config, Family family, boolean keepExtra) {

  /** Writes what differs; returns why it could not be written. */
  Optional<Failure> write(Set<Cidr> desired) {
    ExceptionList list = config.list(family).orElseThrow();
    boolean invalid = !keepExtra && !list.invalid().isEmpty();
    if (!invalid && List.copyOf(list.blocks(family)).equals(List.copyOf(desired))) {
      return Optional.empty();
    }
    byte[] bytes = list.replaced(config.bytes(), entries(list, desired));
    readBack(bytes, desired);
    try {
      replace(bytes, desired);
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of(refused(e));
    }
  }

  /** The new entries; existing ones keep their spelling. */
  private List<String> entries(ExceptionList list, Set<Cidr> desired) {
    Map<Cidr, String> spelling = new HashMap<>();
    List<String> others = new ArrayList<>();
    for (Entry entry : list.entries()) {
      entry.cidr().ifPresent(cidr -> spelling.putIfAbsent(cidr, entry.raw()));
      if (entry.cidr().isPresent() ? !entry.isOf(family) : keepExtra) {
        others.add(entry.raw());
      }
    }
    List<String> all = new ArrayList<>();
    desired.forEach(cidr -> all.add(spelling.getOrDefault(cidr, ExceptionList.raw(cidr))));
    all.addAll(family == Family.IPV4 ? all.size() : 0, others);
    return all;
  }

  /** Verifies that the text reads back as intended before it is written. */
  private void readBack(byte[] bytes, Set<Cidr> desired) {
    try {
      ExceptionList list = PolicyFinder.lists(bytes).get(family);
      if (list != null && list.blocks(family).equals(desired)) {
        return;
      }
    } catch (MalformedJson e) {
      throw new IllegalStateException("our edit breaks " + config.path() + ": " + e.what(), e);
    }
    throw new IllegalStateException("our edit of " + config.path() + " says something else");
  }

  /**
   * Backup, owned entries, config, owned entries: at no point does the config hold an entry of the
   * agent that is not listed as owned; the last step drops surplus entries from the list.
   */
  private void replace(byte[] bytes, Set<Cidr> desired) throws IOException {
    Set<Cidr> before = config.owned().orElse(Set.of());
    Set<Cidr> after = new LinkedHashSet<>(desired);
    if (keepExtra) {
      after.removeAll(config.extras(family));
    }
    before.stream().filter(cidr -> cidr.family() != family).forEach(after::add);
    Set<Cidr> both = new LinkedHashSet<>(before);
    both.addAll(after);
    Path path = config.path();
    if (config.backup().isEmpty()) {
      atomic.write(AtomicFile.backup(path), config.bytes(), path);
    }
    if (!config.owned().equals(Optional.of(both))) {
      atomic.write(AtomicFile.owned(path), CniConfig.ownedBytes(both), path);
    }
    atomic.write(path, bytes, path);
    if (!both.equals(after)) {
      atomic.write(AtomicFile.owned(path), CniConfig.ownedBytes(after), path);
    }
  }

  private Failure refused(IOException e) {
    return new Failure(
        "cannot write " + config.path() + ": " + CniConfig.reason(e),
        "the agent must be allowed to write the file and to make files beside it");
  }

  /**
   * The list becomes what it was in the backup, not empty: with an empty list even traffic between
   * pods would be translated. Everything else in the file stays as it is now.
   */
  Optional<Failure> restore() {
    Path path = config.path();
    try {
      if (config.backup().isPresent()) {
        byte[] bytes = restored(config.backup().get());
        if (!Arrays.equals(config.bytes(), bytes)) {
          atomic.write(path, bytes, path);
        }
      }
      if (!config.differs(family.other())) {
        // The backup last: while it exists, the rest can still be reverted.
        atomic.deleteTemporaries(path);
        atomic.delete(AtomicFile.owned(path));
        atomic.delete(AtomicFile.backup(path));
      }
      return Optional.empty();
    } catch (MalformedJson e) {
      return Optional.of(
          new Failure(
              AtomicFile.backup(path) + " cannot be used: " + e.what(),
              "edit the list by hand and delete that file and "
                  + AtomicFile.owned(path).getFileName()));
    } catch (IOException e) {
      return Optional.of(refused(e));
    }
  }

  private byte[] restored(byte[] backup) throws MalformedJson {
    ExceptionList then = PolicyFinder.lists(backup).get(family);
    Optional<ExceptionList> now = config.list(family);
    if (now.isEmpty() && then == null) {
      return config.bytes();
    }
    if (now.isEmpty() || then == null) {
      throw new MalformedJson(0, "only one of it and the file has a list for " + family);
    }
    Set<Cidr> extras = keepExtra ? config.extras(family) : new LinkedHashSet<>();
    extras.removeAll(then.blocks(family));
    if (extras.isEmpty()) {
      return now.get().spliced(config.bytes(), then.text(backup));
    }
    List<String> raws = new ArrayList<>(then.raws());
    extras.forEach(cidr -> raws.add(ExceptionList.raw(cidr)));
    return now.get().replaced(config.bytes(), raws);
  }
}
