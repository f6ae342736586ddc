package ipmasq.bench;

import ipmasq.testkit.AgentProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Runs the benchmarks and writes the report. */
public final class Main {
  private Main() {}

  /** Words choose sections, for those who work on one; none: all. */
  public static void main(String[] args) throws IOException {
    Locale.setDefault(Locale.ROOT);
    Scale scale = System.getProperty("ipmasq.bench.quick") != null ? Scale.QUICK : Scale.FULL;
    Path out = Path.of(System.getProperty("ipmasq.bench.out", "docs"));
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
    Map<String, Section> sections = sections(scale, peer);
    sections.put("flows", flows);
    sections.forEach(
        (name, section) -> {
          if (only.isEmpty() || only.contains(name)) {
            run(name, section, report);
          }
        });
    if (flows.measured()) {
      Files.writeString(out.resolve("benchmarks.svg"), flows.picture());
    }
    Files.writeString(
        out.resolve("benchmarks.md"), report.markdown(introduction(scale, peer, loadBefore)));
    Progress.say("wrote " + out.resolve("benchmarks.md"));
  }

  private static Map<String, Section> sections(Scale scale, String peer) {
    List<Contender> contenders = new ArrayList<>(List.of(Contender.IPTABLES, Contender.NFTABLES));
    if (!peer.isEmpty()) {
      contenders.add(Contender.peer(Path.of(peer)));
    }
    Map<String, Section> sections = new LinkedHashMap<>();
    sections.put("reaction", new Reaction(contenders, scale));
    sections.put("idle", new Idle(contenders, scale));
    sections.put("neighbours", new Neighbours(contenders, scale));
    sections.put("updates", new Updates(scale));
    sections.put("memory", new ComeAndGo(scale));
    sections.put("heap", new Heap(scale));
    sections.put("loading", new Loading(scale));
    sections.put("image", new Image());
    return sections;
  }

  /** What fails is said in the report; the rest is measured all the same. */
  private static void run(String name, Section section, Report report) {
    try {
      section.measure();
      section.write(report);
    } catch (RuntimeException | AssertionError e) {
      Progress.say(name + " failed: " + e);
      report.gap(name + ": it failed: " + e.getMessage());
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
    text.append("# Benchmarks\n\nWritten by the command itself. Machines differ and are shared:")
        .append(" compare ratios, which come from one run, rather than times.\n\n");
    facts.forEach(
        fact -> text.append("- ").append(fact[0]).append(": ").append(fact[1]).append('\n'));
    return text.toString();
  }

  private static String command(Scale scale, String peer) {
    return "`"
        + (peer.isEmpty() ? "" : "PEER=… ")
        + "make bench"
        + (scale.equals(Scale.QUICK) ? " QUICK=1" : "")
        + "`";
  }
}
