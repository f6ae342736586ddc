package ipmasq.deploy.cluster;

import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;

/**
 * The programs that a cluster consists of, found by their names wherever they are below a folder:
 * release archives may be unpacked there as they are.
 */
record Binaries(Map<String, Path> programs) {
  private static final List<String> NEEDED =
      List.of(
          "kube-apiserver",
          "kube-controller-manager",
          "kube-scheduler",
          "kubelet",
          "kube-proxy",
          "kubectl",
          "etcd",
          "containerd",
          "containerd-shim-runc-v2",
          "ctr",
          "runc",
          "bridge",
          "host-local",
          "loopback",
          "portmap");

  Binaries {
    programs = Map.copyOf(programs);
  }

  static Binaries in(Path folder) throws IOException {
    var found = new LinkedHashMap<String, Path>();
    try (var files = Files.walk(folder.toAbsolutePath(), FileVisitOption.FOLLOW_LINKS)) {
      files
          .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
          .forEach(file -> found.putIfAbsent(name(file), file));
    }
    var missing = new ArrayList<>(NEEDED);
    missing.removeAll(found.keySet());
    if (!missing.isEmpty()) {
      throw new AssertionError(
          "BINARIES=%s lacks %s: docs/cluster-test.md says where they come from"
              .formatted(folder, String.join(", ", missing)));
    }
    found.keySet().retainAll(NEEDED);
    return new Binaries(found);
  }

  /** runc's releases name the architecture: {@code runc.amd64}. */
  private static String name(Path file) {
    var name = file.getFileName().toString();
    return name.startsWith("runc.") ? "runc" : name;
  }

  String program(String name) {
    return programs.get(name).toString();
  }

  /** Where CNI plugins are looked for. */
  List<String> cniFolders() {
    return List.of("bridge", "host-local", "loopback", "portmap").stream()
        .map(plugin -> programs.get(plugin).getParent().toString())
        .distinct()
        .toList();
  }

  /** A {@code PATH} with these before the machine's own. */
  String path() {
    var folders = new LinkedHashSet<String>();
    programs.values().forEach(program -> folders.add(program.getParent().toString()));
    folders.removeAll(cniFolders().stream().filter(f -> !program("ctr").startsWith(f)).toList());
    return String.join(":", folders)
        + ":/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin";
  }
}
