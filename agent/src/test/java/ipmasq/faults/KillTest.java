package ipmasq.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.e2e.Node;
import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * SIGKILL at any moment: the kernel holds the old rules whole or the new rules whole, every packet
 * meanwhile meets the one or the other, and the next start heals.
 */
@KernelTest
@Tag("fault")
@Execution(ExecutionMode.CONCURRENT)
class KillTest {
  private static final int KILLS = Form.of(2, 40);
  private static final Random RANDOM = new Random();

  private static String[] flags(String backend) {
    return new String[] {"--backend=" + backend, "--v=2"};
  }

  private static String other(String backend) {
    return backend.equals("iptables") ? "nftables" : "iptables";
  }

  /** Lets it live for a part of the time that it would need, or a little more. */
  private static void killWithin(long nanos, AgentProcess agent, Node node) {
    LockSupport.parkNanos((long) (nanos * 1.1 * RANDOM.nextDouble()));
    end(agent, node);
  }

  private static void end(AgentProcess agent, Node node) {
    agent.kill();
    agent.awaitExit();
    awaitQuiet(node);
  }

  /** What it started may outlive it, and does its work to the end or not at all. */
  private static void awaitQuiet(Node node) {
    Eventually.within(
        Node.PATIENCE,
        "no process left in the node",
        () -> new Pids(node.namespace().name()).all(),
        List::isEmpty);
  }

  private static long nanos(Runnable work) {
    long start = System.nanoTime();
    work.run();
    return System.nanoTime() - start;
  }

  /** Brings the node to a world, undisturbed, and tells what the kernel holds then. */
  private static State settle(Node node, World world, String backend) {
    node.volume().publish(world.file());
    AgentProcess agent = node.running(flags(backend));
    Eventually.within(
        Node.PATIENCE,
        "a quiet pass",
        agent::stderr,
        lines -> lines.stream().anyMatch(line -> line.contains("found everything in place")));
    State state = State.of(node);
    end(agent, node);
    return state;
  }

  private static void wipe(Node node) {
    node.namespace().nft("flush", "ruleset");
  }

  private static void requireWhole(State left, State before, State after) {
    assertTrue(left.madeOf(before, after), () -> "neither the old nor the new rules:\n" + left);
  }

  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void firstStart(String backend) {
    try (Lab lab = Lab.open();
        Node node = Node.in(lab.node())) {
      wipe(node);
      State nothing = State.of(node);
      State whole = settle(node, World.NEW, backend);
      wipe(node);
      long time = nanos(() -> end(node.running(flags(backend)), node));
      for (int i = 0; i < KILLS; i++) {
        wipe(node);
        try (Traffic _ = Traffic.between(lab, World.NOTHING, World.NEW)) {
          killWithin(time, node.start(flags(backend)), node);
        }
        requireWhole(State.of(node), nothing, whole);
        assertEquals(whole, settle(node, World.NEW, backend));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void update(String backend) {
    try (Lab lab = Lab.open();
        Node node = Node.in(lab.node())) {
      State before = settle(node, World.OLD, backend);
      State after = settle(node, World.NEW, backend);
      assertFalse(before.equals(after));
      long time =
          change(lab, node, backend, backend, agent -> awaitNews(agent, "rules changed (config"));
      for (int i = 0; i < KILLS; i++) {
        long limit = time;
        change(lab, node, backend, backend, agent -> killWithin(limit, agent, node));
        requireWhole(State.of(node), before, after);
        try (Traffic _ = Traffic.between(lab, World.OLD, World.NEW)) {
          assertEquals(after, settle(node, World.NEW, backend));
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void switchToTheOtherBackend(String backend) {
    try (Lab lab = Lab.open();
        Node node = Node.in(lab.node())) {
      State before = settle(node, World.OLD, backend);
      State after = settle(node, World.NEW, other(backend));
      long time =
          change(
              lab, node, backend, other(backend), agent -> awaitNews(agent, "rules changed (co"));
      for (int i = 0; i < KILLS; i++) {
        long limit = 2 * time;
        change(lab, node, backend, other(backend), agent -> killWithin(limit, agent, node));
        State left = State.of(node);
        requireWhole(left, before, after);
        // The new rules come before the old go.
        assertTrue(left.covers(Family.IPV4) && left.covers(Family.IPV6), left::toString);
        try (Traffic _ = Traffic.between(lab, World.OLD, World.NEW)) {
          assertEquals(after, settle(node, World.NEW, other(backend)));
        }
      }
    }
  }

  /** From the old world in one backend to the new in another; tells how long that took. */
  private static long change(
      Lab lab, Node node, String from, String to, Consumer<AgentProcess> end) {
    node.volume().publish("backend: " + from + "\n" + World.OLD.file());
    AgentProcess agent = node.running("--v=2");
    agent.awaitLine(line -> line.contains("found everything in place"));
    long time;
    try (Traffic _ = Traffic.between(lab, World.OLD, World.NEW)) {
      node.volume().publish("backend: " + to + "\n" + World.NEW.file());
      time = nanos(() -> end.accept(agent));
    }
    end(agent, node);
    return time;
  }

  private static void awaitNews(AgentProcess agent, String words) {
    agent.awaitLine(line -> line.contains(words));
  }

  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void cleanup(String backend) {
    try (Lab lab = Lab.open();
        Node node = Node.in(lab.node())) {
      State before = settle(node, World.NEW, backend);
      long time = nanos(() -> node.command("cleanup").ok());
      State nothing = State.of(node);
      for (int i = 0; i < KILLS; i++) {
        settle(node, World.NEW, backend);
        try (Traffic _ = Traffic.between(lab, World.NEW, World.NOTHING)) {
          killWithin(time, node.start("cleanup"), node);
        }
        requireWhole(State.of(node), before, nothing);
        node.command("cleanup").ok();
        assertTrue(State.of(node).nothing());
      }
    }
  }
}
