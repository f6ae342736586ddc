package ipmasq.deploy.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * A control group for the pods of one node, in every hierarchy that the machine has. The owner
 * stands in the name, as it does in the names of the test kit's namespaces.
 */
record Cgroups(String name) {
  private static final Path MOUNT = Path.of("/sys/fs/cgroup");
  private static final String PREFIX = "ipmq-j";

  static boolean isVersion1() {
    return !Files.exists(MOUNT.resolve("cgroup.controllers"));
  }

  static Cgroups create(String node) throws IOException {
    sweep();
    var groups = new Cgroups(PREFIX + ProcessHandle.current().pid() + "-" + node);
    for (var hierarchy : hierarchies()) {
      var group = Files.createDirectories(hierarchy.resolve(groups.name));
      // The first version's cpusets are born empty.
      for (var file : List.of("cpuset.cpus", "cpuset.mems")) {
        if (isVersion1() && Files.exists(group.resolve(file))) {
          Files.writeString(group.resolve(file), Files.readString(hierarchy.resolve(file)));
        }
      }
    }
    return groups;
  }

  /** The processes in it and below. */
  TreeSet<Long> processes() {
    var found = new TreeSet<Long>();
    for (var folder : folders()) {
      try {
        Files.readAllLines(folder.resolve("cgroup.procs")).forEach(p -> found.add(Long.valueOf(p)));
      } catch (IOException gone) {
        // A pod has ended meanwhile.
      }
    }
    return found;
  }

  /** Needs to be empty of processes. */
  void remove() {
    // The kernel's files go with their folder; only folders are removed.
    folders().forEach(folder -> folder.toFile().delete());
  }

  boolean exists() {
    return !folders().isEmpty();
  }

  /** Deepest first. */
  private List<Path> folders() {
    var found = new ArrayList<Path>();
    for (var hierarchy : hierarchies()) {
      var root = hierarchy.resolve(name);
      if (Files.isDirectory(root)) {
        try (var below = Files.walk(root)) {
          below.filter(Files::isDirectory).sorted(Comparator.reverseOrder()).forEach(found::add);
        } catch (IOException | java.io.UncheckedIOException gone) {
          // It is looked at again.
        }
      }
    }
    return found;
  }

  private static List<Path> hierarchies() {
    if (!isVersion1()) {
      return List.of(MOUNT);
    }
    try (var mounts = Files.list(MOUNT)) {
      return mounts
          .filter(m -> !Files.isSymbolicLink(m) && Files.exists(m.resolve("cgroup.procs")))
          .toList();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  /** Removes those of test runs that were killed. */
  private static void sweep() {
    for (var hierarchy : hierarchies()) {
      try (Stream<Path> groups = Files.list(hierarchy)) {
        groups
            .map(group -> group.getFileName().toString())
            .filter(group -> group.startsWith(PREFIX) && ownerIsDead(group))
            .forEach(group -> new Cgroups(group).remove());
      } catch (IOException unreadable) {
        // Then there is nothing to be done about it either.
      }
    }
  }

  private static boolean ownerIsDead(String group) {
    var owner = group.substring(PREFIX.length()).replaceAll("-.*", "");
    return owner.matches("\\d+") && ProcessHandle.of(Long.parseLong(owner)).isEmpty();
  }
}
