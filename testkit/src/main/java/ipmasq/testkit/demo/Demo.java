package ipmasq.testkit.demo;

import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.ConfigVolume;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Sighting;
import java.io.PrintStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Shows the agent at work, step by step; exits with 1 if something is not as it says. */
public final class Demo {
  private static final List<Traveller> TRAVELLERS =
      List.of(
          Traveller.fromPod("10.1.2.3", "private"),
          Traveller.fromPod("169.254.169.254", "link-local"),
          Traveller.fromPod("8.8.8.8", "public"),
          Traveller.fromPod("fd00:99::7", "private"),
          new Traveller("fe80::1", "link-local", true),
          Traveller.fromPod("2600:1f00::53", "public"));

  private static final String CONFIG =
      """
      nonMasqueradeCIDRs:
        - 8.8.8.0/24
        - fd00::/8
      """;

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
  private final Lab lab;
  private final ConfigVolume volume;
  private int step;
  private int surprises;

  private Demo(Lab lab, ConfigVolume volume) {
    this.lab = lab;
    this.volume = volume;
  }

  public static void main(String[] args) {
    Demo demo;
    try (ConfigVolume volume = new ConfigVolume();
        Lab lab = Lab.open()) {
      demo = new Demo(lab, volume);
      demo.run();
    }
    demo.end();
    System.exit(demo.surprises == 0 ? 0 : 1);
  }

  private void run() {
    step(
        "A pod, its node and the world outside: three network namespaces, joined by cables. The"
            + " machine's own rules are not touched.");
    out.print(
        """
           pod                    node                       outside
           10.244.1.2     ─────   192.0.2.10       ───────   is every other address, and
           fd00:244:1::2          2001:db8:2::10             notes who packets come from
                                  runs the agent
        """);
    step(
        "The agent starts on the node. There is no config file, so its built-in defaults hold;"
            + " IPv6 is on.");
    say("$ ip-masq-agent --enable-ipv6");
    try (AgentProcess agent =
        AgentProcess.start(lab.node(), "--enable-ipv6", "--config=" + volume.file())) {
      agent.awaitLine(line -> line.contains("IPv6 rules changed (start"));
      agent.stderr().forEach(this::log);
      step("These are the rules that it wrote (comments left out).");
      rules();
      step(
          "Now packets. Who do their destinations think they come from? (By"
              + " default IPv6 has only its link-local range on the list.)");
      packets(List.of(false, false, true, true, false, true));
      step(
          "Somebody edits the config: Google's resolver shall see pod addresses, private IPv6"
              + " networks too; 10.0.0.0/8 is no longer on the list.");
      CONFIG.lines().forEach(this::say);
      int before = agent.stderr().size();
      long published = System.nanoTime();
      volume.publish(CONFIG);
      agent.awaitLine(line -> line.contains("IPv6 rules changed") && line.contains("+fd00::/8"));
      Duration took = Duration.ofNanos(System.nanoTime() - published);
      out.println();
      agent.stderr().stream().skip(before).forEach(this::log);
      say("In force " + took.toMillis() + " ms after the edit.");
      step("The same packets again, each as a new connection.");
      packets(List.of(true, false, false, false, false, true));
      step(
          "The agent is told to stop. It leaves its rules, as the node still needs"
              + " them; cleanup takes them away.");
      agent.terminate();
      check(agent.awaitExit() == 0, "it ended with another exit code than 0");
      say("$ ip-masq-agent cleanup");
      run("cleanup").lines().forEach(this::say);
      check(!nat().contains("IP-MASQ-AGENT"), "cleanup left something behind");
    }
  }

  private void step(String text) {
    out.println();
    out.println(++step + ". " + wrapped(text));
    out.println();
  }

  /** Lines of at most 92 characters, below each other. */
  private static String wrapped(String text) {
    StringBuilder lines = new StringBuilder();
    int column = 0;
    for (String word : text.split(" ")) {
      if (column + word.length() > 92) {
        lines.append("\n   ");
        column = 0;
      } else if (column > 0) {
        lines.append(' ');
        column++;
      }
      lines.append(word);
      column += word.length();
    }
    return lines.toString();
  }

  private void say(String line) {
    out.println("   " + line);
  }

  /** A line of the agent's log, without the date. */
  private void log(String line) {
    int time = line.indexOf('T') + 1;
    out.println("   │ " + wrapped(line.substring(time)).replace("\n   ", "\n   │     "));
  }

  private void rules() {
    for (String program : List.of("iptables", "ip6tables")) {
      say("$ " + program + " -t nat -S");
      lab.node()
          .run(program, "-t", "nat", "-S")
          .ok()
          .lines()
          .filter(line -> line.startsWith("-A"))
          .map(line -> line.replaceAll("-m comment --comment \"[^\"]*\" ", ""))
          .forEach(this::say);
    }
  }

  private String nat() {
    return lab.node().iptablesSave("nat") + lab.node().ip6tablesSave("nat");
  }

  /** Sends them all and compares what was seen, what {@code explain} says and what is expected. */
  private void packets(List<Boolean> masqueraded) {
    List<Sighting> seen =
        lab.sendAll(TRAVELLERS.stream().map(traveller -> traveller.probe(lab)).toList());
    List<String> words = new ArrayList<>(List.of("explain", "--output=json"));
    TRAVELLERS.forEach(traveller -> words.add(traveller.destination()));
    List<Verdict> verdicts = Verdict.parse(run(words.toArray(String[]::new)));
    row("TO", "", "SEEN AS COMING FROM", "VERDICT", "RULE THAT DECIDED");
    for (int i = 0; i < TRAVELLERS.size(); i++) {
      Traveller traveller = TRAVELLERS.get(i);
      Verdict verdict = verdicts.get(i);
      InetAddress source = seen.get(i).source();
      boolean changed = !source.equals(traveller.origin());
      row(
          traveller.destination(),
          traveller.kind() + (traveller.fromNode() ? " *" : ""),
          compressed(source) + whose(source),
          changed ? "masqueraded" : "kept",
          verdict.rule());
      check(
          changed == verdict.translated() && changed == masqueraded.get(i),
          "that is not what explain says, or not what the config asks for: " + verdict);
    }
    say(
        "* sent by the node itself, from "
            + compressed(Lab.NODE.v6())
            + ": no router forwards what goes there");
  }

  private void row(String to, String kind, String source, String verdict, String rule) {
    say("%-16s %-13s %-21s %-12s %s".formatted(to, kind, source, verdict, rule).strip());
  }

  private static String whose(InetAddress source) {
    return source.equals(Lab.POD.like(source)) ? " (pod)" : " (node)";
  }

  /** Java spells out every zero of an IPv6 address. */
  private static String compressed(InetAddress address) {
    return address.getHostAddress().replaceFirst("%.*", "").replaceFirst("(^|:)0(:0)+(:|$)", "::");
  }

  /** Runs a command of the agent on the node. */
  private String run(String... words) {
    List<String> command = new ArrayList<>(List.of(AgentProcess.builtAgent().toString()));
    command.addAll(List.of(words));
    return lab.node().run(command.toArray(String[]::new)).ok();
  }

  private void check(boolean good, String otherwise) {
    if (!good) {
      surprises++;
      say("!! " + otherwise);
    }
  }

  private void end() {
    out.println();
    if (surprises > 0) {
      out.println("Something was not as it should be: see the lines that begin with !!");
      return;
    }
    Path agent = Path.of("").toAbsolutePath().relativize(AgentProcess.builtAgent());
    out.print(
        """
        Everything was as the rules say, and the lab is gone. Try next:

          %1$s check agent-config/config
          %1$s explain --config agent-config/config 10.1.2.3 8.8.8.8
          make test                the same and much more, as tests
          docs/configuration.md    every key and flag
          README.md                how to run it on a cluster
        """
            .formatted(agent));
  }
}
