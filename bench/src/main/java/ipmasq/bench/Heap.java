package ipmasq.bench;

import ipmasq.testkit.Namespace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/** How large a heap must be for a file of so many ranges to be read and loaded. */
final class Heap implements Section {
  /** With room to spare: what {@code apply} of a million ranges is measured with. */
  static final int MILLION_MEGABYTES = 1024;

  /** From the largest on: what does not fit takes its time to fail. */
  private static final List<Integer> MEGABYTES =
      List.of(MILLION_MEGABYTES, 768, 512, 384, 256, 128, 96, 64, 48, 32, 24, 16);

  /** More than this for each 1,000 ranges need not be tried. */
  private static final int GENEROUS = 2;

  private record Need(int ranges, OptionalInt megabytes) {}

  private final Scale scale;
  private final List<Need> needs = new ArrayList<>();

  Heap(Scale scale) {
    this.scale = scale;
  }

  @Override
  public void measure() {
    for (int ranges : scale.loads()) {
      if (ranges >= 10_000) {
        Progress.say("heap for " + Unit.grouped(ranges) + " ranges");
        needs.add(new Need(ranges, smallest(new Ranges(ranges))));
      }
    }
  }

  private static OptionalInt smallest(Ranges ranges) {
    try {
      Path config = Files.createTempFile("ipmq-", ".yaml");
      try {
        Files.writeString(config, ranges.config());
        OptionalInt smallest = OptionalInt.empty();
        for (int megabytes : MEGABYTES) {
          boolean plenty = megabytes > Math.max(32, ranges.count() / 1000 * GENEROUS);
          boolean hopeless = megabytes * 5000 < ranges.count(); // less than 200 bytes for each
          if (hopeless) {
            break;
          }
          if (!plenty && !loads(config, megabytes)) {
            break;
          }
          smallest = plenty ? smallest : OptionalInt.of(megabytes);
        }
        return smallest;
      } finally {
        Files.delete(config);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean loads(Path config, int megabytes) {
    try (Namespace node = Namespace.open("node")) {
      List<String> command = Java.command("-Xmx" + megabytes + "m");
      command.addAll(List.of("apply", "--backend=nftables", "--config", config.toString()));
      return Command.run(node, "", command.toArray(String[]::new)).exit() == 0;
    } catch (IllegalStateException collectsGarbageForEver) {
      return false;
    }
  }

  @Override
  public void write(Report report) {
    List<String[]> rows = new ArrayList<>();
    rows.add(new String[] {"ranges in the file", "smallest heap of those tried"});
    for (Need need : needs) {
      String text =
          need.megabytes.isPresent() ? need.megabytes.getAsInt() + " MB" : "more than those tried";
      rows.add(new String[] {Unit.grouped(need.ranges), text});
    }
    report.section(
        "Heap",
        "The smallest `-Xmx` with which `apply --backend=nftables` reads a YAML file and loads its"
            + " ranges into a node that has none. Tried: "
            + MEGABYTES
            + " MB.");
    report.table(rows);
  }
}
