package ipmasq.e2e;

import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.ConfigVolume;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.FakePrograms;
import ipmasq.testkit.Namespace;
import ipmasq.testkit.Result;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * A node to run the agent on: a network namespace and a config volume, and programs of iptables
 * that misbehave on demand. Used by one thread.
 */
public final class Node implements AutoCloseable {
  /** For what takes a start of a JVM, on a machine that has more to do. */
  public static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Namespace namespace;
  private final boolean borrowed;
  private final ConfigVolume volume = new ConfigVolume();
  private final Map<String, String> environment = new HashMap<>();
  private final List<Runnable> endings = new ArrayList<>();

  private Node(Namespace namespace, boolean borrowed) {
    this.namespace = namespace;
    this.borrowed = borrowed;
    // The machine's own lock is none of the tests' business, nor is one test's that of another.
    environment.put("XTABLES_LOCKFILE", volume.directory().resolve("..lock").toString());
  }

  public static Node open() {
    return new Node(Namespace.open("node"), false);
  }

  /** The node of a lab. */
  public static Node in(Namespace namespace) {
    return new Node(namespace, true);
  }

  public Namespace namespace() {
    return namespace;
  }

  public ConfigVolume volume() {
    return volume;
  }

  /** From now on the agent's {@code PATH} is what this returns, which does as it is told. */
  public FakePrograms fakePrograms() {
    FakePrograms programs = new FakePrograms();
    endings.add(programs::close);
    environment.put("PATH", programs.path());
    return programs;
  }

  /** Sets a variable for agents started from now on. */
  public void environment(String name, String value) {
    environment.put(name, value);
  }

  /** Starts the agent with this node's config file; it ends with the node, if not before. */
  public AgentProcess start(String... flags) {
    return launch(AgentProcess.builtAgent().toString(), words(flags));
  }

  /** Starts the agent by a program that restrains it and then becomes it. */
  public AgentProcess startBy(List<String> restraint, String... flags) {
    List<String> words = new ArrayList<>(restraint.subList(1, restraint.size()));
    words.add(AgentProcess.builtAgent().toString());
    words.addAll(List.of(words(flags)));
    return launch(restraint.getFirst(), words.toArray(String[]::new));
  }

  private AgentProcess launch(String program, String[] words) {
    AgentProcess agent = AgentProcess.start(Path.of(program), namespace, environment, words);
    endings.addFirst(agent::close);
    return agent;
  }

  private String[] words(String... flags) {
    return Stream.concat(Stream.of("--config=" + volume.file()), Stream.of(flags))
        .toArray(String[]::new);
  }

  /** Starts the agent and waits until its first pass is over. */
  public AgentProcess running(String... flags) {
    AgentProcess agent = start(flags);
    awaitFirstPass(agent);
    return agent;
  }

  /** Waits until the first pass is over. What it wrote is in the kernel by then. */
  public static void awaitFirstPass(AgentProcess agent) {
    if (!firstPassOrEnd(agent)) {
      throw new AssertionError("it ended: " + agent);
    }
  }

  /** Waits until the first pass is over, or the agent: false. */
  public static boolean firstPassOrEnd(AgentProcess agent) {
    Predicate<AgentProcess> passed = a -> a.stderr().stream().anyMatch(Node::tellsOfPass);
    Eventually.within(PATIENCE, "a first pass", () -> agent, a -> passed.test(a) || !a.running());
    if (!agent.running()) {
      agent.awaitExit();
    }
    return passed.test(agent);
  }

  /** The last words of a pass about which there is anything to say. */
  private static boolean tellsOfPass(String line) {
    return line.contains(" rules changed (start")
        || line.contains("tried again until it works")
        || line.contains("found everything in place");
  }

  /** Runs a command of the agent to its end. */
  public Result command(String... words) {
    return command(words, new String[0]);
  }

  /** The same with this node's config file. */
  public Result commandWithConfig(String... words) {
    return command(words, "--config=" + volume.file());
  }

  private Result command(String[] words, String... more) {
    List<String> line = new ArrayList<>(List.of(AgentProcess.builtAgent().toString()));
    line.addAll(List.of(words));
    line.addAll(List.of(more));
    return inEnvironment(line);
  }

  /** Runs a line of shell to its end. */
  Result shell(String line) {
    return inEnvironment(List.of("sh", "-c", line));
  }

  private Result inEnvironment(List<String> command) {
    List<String> line = new ArrayList<>(List.of("env"));
    environment.forEach((name, value) -> line.add(name + "=" + value));
    line.addAll(command);
    return namespace.runWithin(PATIENCE, line.toArray(String[]::new));
  }

  /** The rules of the nat table, in order, as {@code iptables-save} prints them. */
  public List<String> rules(Family family) {
    return rules(family, "");
  }

  /** The rules of the nat table that {@code -legacy} or {@code -nft} keeps. */
  public List<String> rules(Family family, String infix) {
    String program = (family == Family.IPV4 ? "iptables" : "ip6tables") + infix + "-save";
    return namespace
        .run(program, "-t", "nat")
        .ok()
        .lines()
        .filter(l -> l.startsWith("-A"))
        .toList();
  }

  public void awaitRules(Family family, List<String> wanted) {
    awaitRules(family, "", wanted);
  }

  public void awaitRules(Family family, String infix, List<String> wanted) {
    Eventually.within(
        PATIENCE,
        String.join("\n", wanted),
        () -> rules(family, infix),
        rules -> rules.equals(wanted));
  }

  /** Whether nobody ever touched the nat tables, not even to make them. */
  public boolean untouched() {
    return namespace.nft("list", "ruleset").isEmpty();
  }

  /** Runs {@code iptables -t nat …}, or {@code ip6tables}; words are divided by spaces. */
  public void iptables(Family family, String words) {
    String program = family == Family.IPV4 ? "iptables" : "ip6tables";
    namespace
        .run(
            Stream.concat(Stream.of(program, "-w", "5", "-t", "nat"), Stream.of(words.split(" ")))
                .toArray(String[]::new))
        .ok();
  }

  /** Feeds a table to {@code iptables-restore --noflush}, as an older version would have. */
  public void restore(Family family, String table) {
    String program = family == Family.IPV4 ? "iptables-restore" : "ip6tables-restore";
    namespace.feed(table, program, "--noflush").ok();
  }

  @Override
  public void close() {
    endings.forEach(Runnable::run);
    volume.close();
    if (!borrowed) {
      namespace.close();
    }
  }
}
