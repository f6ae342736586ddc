package ipmasq.cni;

import static java.nio.charset.StandardCharsets.UTF_8;

import ipmasq.backend.Failure;
import ipmasq.json.Json;
import ipmasq.json.JsonReader;
import ipmasq.json.JsonValue;
import ipmasq.json.MalformedJson;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A CNI config as it was read, with its companion files.
 *
 * @param lists the exception list of each family
 * @param backup the file as it was before the agent first wrote it
 * @param owned the entries that the agent put into the lists; empty if it never wrote the file
 */
record CniConfig(
    Path path,
    byte[] bytes,
    Map<Family, ExceptionList> lists,
    Optional<byte[]> backup,
    Optional<Set<Cidr>> owned) {

  /**
   * What is at a path.
   *
   * @param config the first file that has an OutBoundNAT policy
   * @param broken why files before it could not be read
   */
  record Found(Optional<CniConfig> config, List<Failure> broken) {
    Found {
      broken = List.copyOf(broken);
    }
  }

  static Found find(Path path) {
    List<Failure> broken = new ArrayList<>();
    try {
      for (Path file : paths(path)) {
        Optional<CniConfig> config = read(file, broken).filter(it -> !it.lists.isEmpty());
        if (config.isPresent()) {
          return new Found(config, broken);
        }
      }
    } catch (IOException e) {
      broken.add(unreadable(path, e));
    }
    return new Found(Optional.empty(), broken);
  }

  /** The configs in a directory, or the path itself. */
  static List<Path> paths(Path path) throws IOException {
    return Files.isDirectory(path) ? Disk.list(path, CniConfig::isConfig) : List.of(path);
  }

  /** What a container runtime would load. */
  private static boolean isConfig(String name) {
    return name.endsWith(".conf") || name.endsWith(".conflist") || name.endsWith(".json");
  }

  private static Optional<CniConfig> read(Path file, List<Failure> broken) {
    byte[] bytes = {};
    try {
      Path path = file.toRealPath();
      bytes = Disk.read(path);
      return Optional.of(
          new CniConfig(
              path,
              bytes,
              PolicyFinder.lists(bytes),
              Disk.readIfThere(AtomicFile.backup(path)),
              Disk.readIfThere(AtomicFile.owned(path)).map(CniConfig::owned)));
    } catch (NoSuchFileException missing) {
      broken.add(
          new Failure(
              "there is no CNI config at " + file,
              "name a file or a directory with --cni-config; a network plugin that is being"
                  + " installed may write it later"));
    } catch (IOException e) {
      broken.add(unreadable(file, e));
    } catch (MalformedJson e) {
      broken.add(
          new Failure(
              file + ":" + JsonReader.place(bytes, e.at()) + ": " + e.what(),
              "the file is left alone; repair it by hand"));
    }
    return Optional.empty();
  }

  private static Failure unreadable(Path path, IOException e) {
    String file = e instanceof FileSystemException at && at.getFile() != null ? at.getFile() : "";
    return new Failure(
        "cannot read " + (file.isEmpty() ? path : file) + ": " + reason(e),
        "the agent must be allowed to read and write it");
  }

  /** Why the system refused, in its own words. */
  static String reason(IOException e) {
    if (e instanceof AccessDeniedException) {
      return "permission denied";
    }
    // The exception's own words begin with the path, and are often nothing else.
    String reason = e instanceof FileSystemException at ? at.getReason() : e.getMessage();
    return reason == null ? e.toString() : reason;
  }

  /** One that cannot be read makes every entry a person's. */
  private static Set<Cidr> owned(byte[] bytes) {
    Set<Cidr> owned = new LinkedHashSet<>();
    try {
      if (JsonValue.read(bytes) instanceof JsonValue.Obj root) {
        for (JsonValue item : root.array("own").map(JsonValue.Arr::items).orElse(List.of())) {
          if (item instanceof JsonValue.Str(_, _, var text)
              && Cidr.parse(text) instanceof Cidr.Parsed.Block(var cidr)) {
            owned.add(cidr);
          }
        }
      }
    } catch (MalformedJson e) {
      return Set.of();
    }
    return owned;
  }

  static byte[] ownedBytes(Set<Cidr> cidrs) {
    return (Json.write(Map.of("own", cidrs.stream().sorted().toList())) + "\n").getBytes(UTF_8);
  }

  Optional<ExceptionList> list(Family family) {
    return Optional.ofNullable(lists.get(family));
  }

  /** The blocks of a family that people put into the list. */
  Set<Cidr> extras(Family family) {
    Set<Cidr> extras = list(family).map(list -> list.blocks(family)).orElseGet(LinkedHashSet::new);
    extras.removeAll(owned.orElse(Set.of()));
    return extras;
  }

  /** {@code path:line:column} of a list. */
  String place(ExceptionList list) {
    return path + ":" + JsonReader.place(bytes, list.array().from());
  }

  /**
   * Whether there is nothing to revert. Companion files of a list that is unchanged go with either
   * family; the other family's changes do not count here.
   */
  boolean untouched(Family family) {
    return backup.isEmpty() && owned.isEmpty() || !differs(family) && differs(family.other());
  }

  /** Whether the list of a family is another than in the backup. */
  boolean differs(Family family) {
    if (backup.isEmpty()) {
      return false;
    }
    try {
      Optional<ExceptionList> then =
          Optional.ofNullable(PolicyFinder.lists(backup.get()).get(family));
      return !list(family).map(ExceptionList::raws).equals(then.map(ExceptionList::raws));
    } catch (MalformedJson e) {
      return true;
    }
  }
}
