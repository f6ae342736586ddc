package ipmasq.bench;

import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.ConfigVolume;
import ipmasq.testkit.Namespace;
import java.time.Duration;
import java.util.Map;

/**
 * An agent at work, with its CPU time and its children counted. Used by one thread.
 *
 * <p>Children are counted by scripts in the place of the programs of iptables, which add some CPU
 * time to each.
 */
final class Watched implements AutoCloseable {
  private static final int DEFAULTS = 3;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final ConfigVolume volume = new ConfigVolume();
  private final Cgroup cgroup = new Cgroup();
  private final CountedPrograms programs = new CountedPrograms();
  private final Contender contender;
  private final Namespace node;
  private final AgentProcess agent;

  /**
   * @param counted whether its children are counted
   */
  Watched(Contender contender, Namespace node, boolean counted) {
    this.contender = contender;
    this.node = node;
    agent = contender.start(node, volume, counted ? Map.of("PATH", programs.path()) : Map.of());
    cgroup.add(agent.pid());
  }

  Contender contender() {
    return contender;
  }

  long pid() {
    return agent.pid();
  }

  /** Until the default ranges are in force. */
  void awaitRules() {
    try (KernelView kernel = new KernelView(node)) {
      kernel.await(System.nanoTime(), contender.kind(), DEFAULTS, PATIENCE);
    }
  }

  /** Of the agent and its children, so far. */
  double cpuMillis() {
    return cgroup.cpuMillis();
  }

  /** How many it has had so far. */
  int children() {
    return programs.runs();
  }

  @Override
  public void close() {
    agent.close();
    cgroup.close();
    programs.close();
    volume.close();
  }
}
