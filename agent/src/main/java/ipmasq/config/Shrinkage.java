package ipmasq.config;

import ipmasq.net.Cidrs;
import java.util.List;

/**
 * Whether new files may be half written, because they have much less content than before. Nothing
 * else distinguishes a half-written list from a short one, and ranges that are missing for a moment
 * get their packets masqueraded.
 */
final class Shrinkage {
  private static final List<Key<Cidrs>> LISTS =
      List.of(Key.NON_MASQUERADE_CIDRS, Key.MASQUERADE_CIDRS, Key.SOURCE_CIDRS);

  /** With fewer ranges, half of them may well be removed on purpose. */
  private static final int FEW = 4;

  private Shrinkage() {}

  /** Whether a list lost all of its ranges, or most of many. */
  static boolean of(Config before, Config after) {
    for (Key<Cidrs> key : LISTS) {
      int had = before.of(key).size();
      int has = after.of(key).size();
      if (had > 0 && has == 0 || had >= FEW && 2 * has < had) {
        return true;
      }
    }
    return false;
  }

  /** Whether a file that had something in it is empty now, or gone. */
  static boolean of(List<FileSnapshot> before, List<FileSnapshot> after) {
    return before.stream().anyMatch(file -> hasContent(file) && !hasContent(at(file, after)));
  }

  private static FileSnapshot at(FileSnapshot file, List<FileSnapshot> files) {
    return files.stream()
        .filter(other -> other.path().equals(file.path()))
        .findFirst()
        .orElseGet(() -> FileSnapshot.missing(file.path()));
  }

  private static boolean hasContent(FileSnapshot file) {
    return file.bytes().isPresent() && file.bytes().get().array().length > 0;
  }
}
