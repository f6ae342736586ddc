package ipmasq.cni;

import ipmasq.backend.Failure;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The CNI configs at a path.
 *
 * @param broken why files could not be read
 */
record CniFiles(List<CniFile> all, List<Failure> broken) {
  CniFiles {
    all = List.copyOf(all);
    broken = List.copyOf(broken);
  }

  /** A container runtime loads the first of its directory; many times more than people have. */
  static final int MOST_FILES = 100;

  private static final String NAME_ONE = "name the one to keep with --cni-config";

  /** What the files hold for a family. */
  enum Coverage {
    /** There are lists for its ranges. */
    PRESENT,
    /** There is no list, but there should be one. */
    MISSING,
    /** There is no list and no need for one: nothing translates this family's packets. */
    NOT_NEEDED
  }

  static CniFiles of(Disk disk, Path path) {
    List<CniFile> files = new ArrayList<>();
    List<Failure> broken = new ArrayList<>();
    try {
      List<Path> paths = paths(disk, path);
      if (paths.size() > MOST_FILES) {
        broken.add(new Failure(path + " has more than " + MOST_FILES + " CNI configs", NAME_ONE));
        return new CniFiles(files, broken);
      }
      for (Path file : paths) {
        read(disk, file, files, broken);
        if (files.stream().mapToLong(CniFile::size).sum() > RealDisk.LARGEST) {
          broken.add(
              new Failure(
                  "the CNI configs in "
                      + path
                      + " are together larger than "
                      + (RealDisk.LARGEST >> 20)
                      + " MiB",
                  NAME_ONE));
          break;
        }
      }
    } catch (IOException e) {
      broken.add(unreadable(path, e));
    }
    return new CniFiles(files, broken);
  }

  /** The configs in a directory, or the path itself; of too many, one more than may be. */
  static List<Path> paths(Disk disk, Path path) throws IOException {
    return disk.list(path, CniFiles::isConfig, MOST_FILES + 1).orElse(List.of(path));
  }

  private static void read(Disk disk, Path path, List<CniFile> files, List<Failure> broken) {
    try {
      Optional<byte[]> bytes = disk.read(path);
      if (bytes.isEmpty()) {
        broken.add(
            new Failure(
                "there is no CNI config at " + path,
                "name a file or a directory with --cni-config; a network plugin that is being"
                    + " installed may write it later"));
        return;
      }
      Path real = disk.real(path);
      if (files.stream().anyMatch(file -> file.path().equals(real))) {
        return; // two names for one file
      }
      switch (CniFile.read(disk, real, bytes.get())) {
        case CniFile.Read.Whole(var file) -> files.add(file);
        case CniFile.Read.Broken(var failure) -> broken.add(failure);
      }
    } catch (IOException e) {
      broken.add(unreadable(path, e));
    }
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

  /** What a container runtime would load. */
  private static boolean isConfig(String name) {
    return name.endsWith(".conf") || name.endsWith(".conflist") || name.endsWith(".json");
  }

  /** A list and its file. */
  record ListInFile(CniFile file, ExceptionList list) {}

  List<ListInFile> lists(Family family) {
    List<ListInFile> found = new ArrayList<>();
    for (CniFile file : all) {
      file.lists(family).forEach(list -> found.add(new ListInFile(file, list)));
    }
    return found;
  }

  Coverage coverage(Family family, boolean addPolicy) {
    if (!lists(family).isEmpty()) {
      return Coverage.PRESENT;
    }
    return switch (family) {
      case IPV4 -> lists(Family.IPV6).isEmpty() ? Coverage.MISSING : Coverage.NOT_NEEDED;
      case IPV6 ->
          addPolicy && candidate().map(CniFile::dualStack).orElse(false)
              ? Coverage.MISSING
              : Coverage.NOT_NEEDED;
    };
  }

  /** The file that a policy would be added to: the one with policies, or the only one. */
  Optional<CniFile> candidate() {
    List<CniFile> with = all.stream().filter(file -> !file.lists().isEmpty()).toList();
    List<CniFile> among = with.isEmpty() ? all : with;
    return among.size() == 1 ? Optional.of(among.getFirst()) : Optional.empty();
  }

  /** The blocks that people put into any of the lists. */
  Set<Cidr> extras(Family family) {
    Set<Cidr> extras = new LinkedHashSet<>();
    all.forEach(file -> extras.addAll(file.extras(family)));
    return extras;
  }
}
