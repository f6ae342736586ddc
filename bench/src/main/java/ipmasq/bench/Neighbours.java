package ipmasq.bench;

import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.ConfigVolume;
import ipmasq.testkit.Namespace;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * An agent beside a program that keeps restoring thousands of rules, as kube-proxy does: neither
 * must feel the other.
 */
final class Neighbours implements Section {
  private static final int RULES = 20_000;
  private static final int RULES_A_CHAIN = 20;

  private record Beside(Samples with, Samples without, List<String> complaints) {}

  private final Scale scale;
  private final List<Contender> contenders;
  private final Map<Contender, Beside> results = new LinkedHashMap<>();

  Neighbours(List<Contender> contenders, Scale scale) {
    this.contenders = contenders;
    this.scale = scale;
  }

  @Override
  public void measure() {
    Progress.say("beside a writer of " + Unit.grouped(RULES) + " rules");
    for (Contender contender : contenders) {
      results.put(contender, beside(contender));
    }
  }

  private Beside beside(Contender contender) {
    Beside beside = new Beside(new Samples(), new Samples(), new ArrayList<>());
    String rules = foreign();
    Random random = new Random(5);
    try (Namespace node = Namespace.open("node");
        KernelView kernel = new KernelView(node);
        ConfigVolume volume = new ConfigVolume()) {
      restore(node, rules); // the first makes the chains, those after it replace their rules
      try (AgentProcess agent = contender.start(node, volume)) {
        kernel.await(System.nanoTime(), contender.kind(), 3, Duration.ofSeconds(60));
        restore(node, rules);
        for (int i = 0; i < 2 * scale.few(); i++) {
          boolean withFirst = random.nextBoolean();
          for (boolean with : new boolean[] {withFirst, !withFirst}) {
            signal(agent, with ? "-CONT" : "-STOP");
            (with ? beside.with : beside.without).add(restore(node, rules));
          }
        }
        signal(agent, "-CONT");
        agent.stderr().stream().filter(Neighbours::complains).forEach(beside.complaints::add);
        if (!agent.running() || !kernel.holds(contender.kind(), 3)) {
          beside.complaints.add("the rules are not in force at the end");
        }
      }
    }
    return beside;
  }

  /** Ours say that they try again; klog's lines begin with the letter of their severity. */
  private static boolean complains(String line) {
    return line.contains("tried again")
        || line.length() > 1 && line.charAt(0) == 'E' && Character.isDigit(line.charAt(1));
  }

  private static double restore(Namespace node, String rules) {
    return Command.run(node, rules, "iptables-nft-restore", "--noflush").ok().millis();
  }

  private static String foreign() {
    StringBuilder text = new StringBuilder("*nat\n");
    int chains = RULES / RULES_A_CHAIN;
    for (int i = 0; i < chains; i++) {
      text.append(":KUBE-SVC-").append(i).append(" - [0:0]\n");
    }
    for (int i = 0; i < RULES; i++) {
      text.append("-A KUBE-SVC-").append(i / RULES_A_CHAIN);
      text.append(" -d 10.96.").append(i >> 8 & 255).append('.').append(i & 255);
      text.append("/32 -p tcp -m tcp --dport 443 -j RETURN\n");
    }
    return text.append("COMMIT\n").toString();
  }

  private static void signal(AgentProcess agent, String signal) {
    try {
      new ProcessBuilder("kill", signal, Long.toString(agent.pid())).start().waitFor();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void write(Report report) {
    report.section(
        "Beside a large writer",
        """
        An `iptables-nft-restore` of %s rules, again and again, beside an agent at its work and beside the same agent \
        stopped (SIGSTOP), in turns: the time it takes, by the clock on the wall. Syncs of the agent that fail are read \
        from its log. The promise is "not measurably slower"; 1.05 is this report's reading of it.
        """
            .formatted(Unit.grouped(RULES)));
    List<String[]> rows = new ArrayList<>();
    rows.add(
        new String[] {"", "restore beside it", "without it", "median of ratios", "failed syncs"});
    results.forEach(
        (contender, beside) -> {
          double ratio = beside.with.ratioTo(beside.without);
          rows.add(
              new String[] {
                contender.name(),
                Unit.MILLISECONDS.text(beside.with.median()),
                Unit.MILLISECONDS.text(beside.without.median()),
                Unit.RATIO.text(ratio),
                Integer.toString(beside.complaints.size())
              });
          if (!contender.fixedPath()) {
            String name = "Beside 20,000 foreign rules, " + contender.name();
            report.goal(name + ": failed syncs", 0, beside.complaints.size(), Unit.COUNT);
            report.goal(name + ": their restore, with against without", 1.05, ratio, Unit.RATIO);
          }
        });
    report.table(rows);
  }
}
