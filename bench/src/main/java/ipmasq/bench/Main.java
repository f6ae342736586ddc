package ipmasq.bench;

import ipmasq.testkit.AgentProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Runs the benchmarks and writes the report. */
public final class Main {
  private Main() {}

  /**
   * A section of the report.
   *
   * @param quick how many seconds it takes in the quick form on a calm machine
   * @param full the same for the full form
   */
  private record Part(String name, Section section, int quick, int full) {}

  /** Words choose sections, for those who work on one; none: all. */
  public static void main(String[] args) throws IOException {
    Locale.setDefault(Locale.ROOT);
    Scale scale = System.getProperty("ipmasq.bench.quick") != null ? Scale.QUICK : Scale.FULL;
    String peer = System.getProperty("ipmasq.bench.peer", "");
    Set<String> only = Set.of(args);
    String loadBefore = Machine.load();
    Report report = new Report();
    if (peer.isEmpty()) {
      report.gap("another agent beside ours: `PEER=/path/to/agent make bench` does that");
    } else {
      report.gap("loading, heap and many ranges with the peer: it has neither `apply` nor a set");
    }
    NewFlows flows = new NewFlows(scale);
    List<Part> parts =
        parts(scale, peer, flows).stream()
            .filter(part -> only.isEmpty() || only.contains(part.name))
            .toList();
    Progress.plan(parts.stream().map(part -> scale.full() ? part.full : part.quick).toList());
    List<Part> measured = new ArrayList<>();
    for (Part part : parts) {
      if (attempt(part.name, part.section::measure, report)) {
        measured.add(part);
      }
      Progress.next();
    }
    measured.forEach(part -> attempt(part.name, () -> part.section.write(report), report));
    Path out = out(scale.full() && only.isEmpty());
    if (flows.measured()) {
      Files.writeString(out.resolve("benchmarks.svg"), flows.picture());
    }
    Files.writeString(
        out.resolve("benchmarks.md"), report.markdown(introduction(scale, peer, loadBefore)));
    System.out.println(report.verdicts());
    System.out.println("wrote " + out.resolve("benchmarks.md"));
  }

  /** What the documentation says comes from a whole run. */
  private static Path out(boolean whole) {
    return Path.of(System.getProperty("ipmasq.bench.out", whole ? "docs" : "bench/target"));
  }

  private static List<Part> parts(Scale scale, String peer, NewFlows flows) {
    List<Contender> contenders = new ArrayList<>(List.of(Contender.IPTABLES, Contender.NFTABLES));
    if (!peer.isEmpty()) {
      contenders.add(Contender.peer(Path.of(peer)));
    }
    return List.of(
        new Part("reaction", new Reaction(contenders, scale), 20, 80),
        new Part("idle", new Idle(contenders, scale), 24, 75),
        new Part("neighbours", new Neighbours(contenders, scale), 45, 245),
        new Part("updates", new Updates(scale), 4, 30),
        new Part("memory", new ComeAndGo(scale), 13, 90),
        new Part("heap", new Heap(scale), 2, 45),
        new Part("loading", new Loading(scale), 4, 40),
        new Part("flows", flows, 8, 80));
  }

  /** What fails is said in the report; the rest is measured all the same. */
  private static boolean attempt(String name, Runnable work, Report report) {
    try {
      work.run();
      return true;
    } catch (RuntimeException | AssertionError e) {
      Progress.say(name + " failed: " + e);
      report.gap(name + ": it failed: " + e.getMessage());
      return false;
    }
  }

  private static String introduction(Scale scale, String peer, String loadBefore) {
    List<String[]> facts = new ArrayList<>();
    facts.add(new String[] {"made by", command(scale, peer)});
    facts.add(new String[] {"date", Machine.date()});
    facts.add(new String[] {"processors", Machine.processor()});
    facts.add(new String[] {"kernel", Machine.kernel()});
    facts.add(new String[] {"niceness", Machine.niceness()});
    facts.add(new String[] {"load before", loadBefore});
    facts.add(new String[] {"load after", Machine.load()});
    facts.add(
        new String[] {"agent", Machine.version(AgentProcess.builtAgent().toString(), "--version")});
    facts.add(new String[] {"iptables", Machine.version("iptables", "--version")});
    facts.add(new String[] {"nft", Machine.version("nft", "--version")});
    facts.add(new String[] {"ipset", Machine.version("ipset", "--version")});
    if (!peer.isEmpty()) {
      facts.add(new String[] {"peer", Path.of(peer).getFileName().toString()});
    }
    StringBuilder text = new StringBuilder();
    text.append("# Benchmarks\n\nWritten by `make bench`. Machines differ and are shared:")
        .append(" compare ratios, which come from one run, rather than times.\n\n");
    facts.forEach(
        fact -> text.append("- ").append(fact[0]).append(": ").append(fact[1]).append('\n'));
    return text.toString();
  }

  private static String command(Scale scale, String peer) {
    return "`"
        + (peer.isEmpty() ? "" : "PEER=… ")
        + "make bench"
        + (scale.full() ? "" : " QUICK=1")
        + "`";
  }
}
