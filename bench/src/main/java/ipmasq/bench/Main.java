package ipmasq.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Runs the benchmarks and writes the report. */
public final class Main {
  private Main() {}

  /** Words choose sections, for those who work on one; none: all. */
  public static void main(String[] args) throws IOException {
    Locale.setDefault(Locale.ROOT);
    Scale scale = System.getProperty("ipmasq.bench.quick") != null ? Scale.QUICK : Scale.FULL;
    Path out = Path.of(System.getProperty("ipmasq.bench.out", "docs"));
    Set<String> only = Set.of(args);
    String before = Machine.load();
    Report report = new Report();
    if (wants(only, "flows")) {
      NewFlows flows = new NewFlows(scale);
      flows.measure();
      flows.write(report);
      Files.writeString(out.resolve("benchmarks.svg"), flows.picture());
    }
    if (wants(only, "loading")) {
      Loading loading = new Loading(scale);
      loading.measure();
      loading.write(report);
    }
    if (wants(only, "heap")) {
      Heap heap = new Heap(scale);
      heap.measure();
      heap.write(report);
    }
    if (wants(only, "updates")) {
      Updates updates = new Updates(scale);
      updates.measure();
      updates.write(report);
    }
    Files.writeString(out.resolve("benchmarks.md"), report.markdown("# Benchmarks"));
    Progress.say("done; load " + before + List.of());
  }

  private static boolean wants(Set<String> only, String section) {
    return only.isEmpty() || only.contains(section);
  }
}
