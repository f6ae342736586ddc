package ipmasq.hook.iptables;

import ipmasq.iptables.ShellWords;
import java.util.List;

/** Which bits of the mark iptables rules may set, read line by line from iptables-save. */
final class LegacyMarks {
  private static final long ALL = 0xffff_ffffL;

  private long bits;

  void accept(String line) {
    if (!line.startsWith("-A ") || line.startsWith("-A KUBE-") || !line.contains("MARK")) {
      return;
    }
    List<String> words = ShellWords.of(line);
    int target = words.indexOf("-j");
    if (target < 0 || target + 1 >= words.size() || !words.get(target + 1).endsWith("MARK")) {
      return;
    }
    int set = words.indexOf("--set-xmark");
    if (set > target && set + 1 < words.size()) {
      String value = words.get(set + 1);
      int slash = value.indexOf('/');
      try {
        bits |= Long.decode(slash < 0 ? value : value.substring(0, slash));
      } catch (NumberFormatException odd) {
        bits = ALL;
      }
    } else if (!words.contains("--save-mark")) {
      bits = ALL;
    }
  }

  long bits() {
    return bits;
  }
}
