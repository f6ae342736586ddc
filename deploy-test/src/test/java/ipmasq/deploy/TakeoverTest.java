package ipmasq.deploy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.ConfigVolume;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Probe;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * docs/migrating.md as a test: rules that another version wrote are in force, and ours takes over.
 */
@KernelTest
class TakeoverTest {
  /** What stands on the node before. */
  enum Before {
    V2_12_6(
        "IP-MASQ-AGENT",
        "\"ip-masq-agent: ensure nat POSTROUTING directs all non-LOCAL destination traffic to our custom IP-MASQ-AGENT chain\"",
        "ip-masq-agent: local traffic is not subject to MASQUERADE",
        "ip-masq-agent: outbound traffic is subject to MASQUERADE (must be last in chain)"),
    V2_12_1(
        "IP-MASQ-AGENT",
        "\"\\\"ip-masq-agent: ensure nat POSTROUTING directs all non-LOCAL destination traffic to our custom IP-MASQ-AGENT chain\\\"\"",
        "ip-masq-agent: local traffic is not subject to MASQUERADE",
        "ip-masq-agent: outbound traffic is subject to MASQUERADE (must be last in chain)"),
    V2_0_0(
        "IP-MASQ-AGENT",
        "\"ip-masq-agent: ensure nat POSTROUTING directs all non-LOCAL destination traffic to our custom IP-MASQ-AGENT chain\"",
        "ip-masq-agent: cluster-local traffic should not be subject to MASQUERADE",
        "ip-masq-agent: outbound traffic should be subject to MASQUERADE (this match must come after cluster-local CIDR matches)"),
    /**
     * The same v2.12.6 with {@code --masq-chain=IP-MASQ}, as its own example manifest starts it.
     */
    OTHER_CHAIN(
        "IP-MASQ",
        "\"ip-masq-agent: ensure nat POSTROUTING directs all non-LOCAL destination traffic to our custom IP-MASQ chain\"",
        "ip-masq-agent: local traffic is not subject to MASQUERADE",
        "ip-masq-agent: outbound traffic is subject to MASQUERADE (must be last in chain)");

    private final String chain;
    private final String jump;
    private final String exempt;
    private final String outbound;

    Before(String chain, String jump, String exempt, String outbound) {
      this.chain = chain;
      this.jump = jump;
      this.exempt = exempt;
      this.outbound = outbound;
    }

    String rules() {
      return """
      *nat
      :CHAIN - [0:0]
      -A POSTROUTING -m comment --comment JUMP -m addrtype ! --dst-type LOCAL -j CHAIN
      -A CHAIN -d 169.254.0.0/16 -m comment --comment "EXEMPT" -j RETURN
      -A CHAIN -d 10.0.0.0/8 -m comment --comment "EXEMPT" -j RETURN
      -A CHAIN -d 172.16.0.0/12 -m comment --comment "EXEMPT" -j RETURN
      -A CHAIN -d 192.168.0.0/16 -m comment --comment "EXEMPT" -j RETURN
      -A CHAIN -m comment --comment "OUTBOUND" -j MASQUERADE --random-fully
      COMMIT
      """
          .replace("JUMP", jump)
          .replace("EXEMPT", exempt)
          .replace("OUTBOUND", outbound)
          .replace("CHAIN", chain);
    }
  }

  @ParameterizedTest
  @EnumSource
  void takesOverWithoutAMomentInWhichTheRulesAreMissing(Before before) throws Exception {
    try (var lab = Lab.open();
        var config = new ConfigVolume()) {
      var node = lab.node();
      node.feed(before.rules(), "iptables-restore", "--noflush").ok();
      var wrong = new CopyOnWriteArrayList<String>();
      var samples = new AtomicInteger();
      var packets = new AtomicInteger();
      var sampler =
          new Watch(
              () -> {
                samples.incrementAndGet();
                var saved = node.iptablesSave("nat");
                if (!inForce(saved)) {
                  wrong.add(saved);
                }
              });
      var sender =
          new Watch(
              () -> {
                packets.addAndGet(2);
                var outside = lab.send(Probe.udp("198.51.100.7")).source();
                var inside = lab.send(Probe.udp("10.9.9.9")).source();
                if (!outside.equals(Lab.NODE.v4()) || !inside.equals(Lab.POD.v4())) {
                  wrong.add("seen from " + outside + " outside and from " + inside + " inside");
                }
              });
      try (sampler;
          sender) {
        Eventually.eventually("looked before", packets::get, seen -> seen >= 6);
        try (var agent =
            AgentProcess.start(node, "--backend=iptables", "--config=" + config.file())) {
          agent.awaitLine(line -> line.contains("backend iptables"));
          Eventually.eventually(
              "only our own rules", () -> node.iptablesSave("nat"), TakeoverTest::ours);
          int then = packets.get();
          Eventually.eventually("looked after", packets::get, seen -> seen >= then + 6);
          agent.terminate();
          assertEquals(0, agent.awaitExit());
        }
        int then = samples.get();
        Eventually.eventually("rules stay", samples::get, seen -> seen > then + 1);
      }
      assertEquals(List.of(), wrong);
      assertTrue(ours(node.iptablesSave("nat")), node.iptablesSave("nat"));
    }
  }

  /** A jump leads to a chain that exempts 10.0.0.0/8 and ends by masquerading. */
  private static boolean inForce(String saved) {
    return List.of("IP-MASQ-AGENT", "IP-MASQ").stream()
        .anyMatch(
            chain -> {
              var rules = saved.lines().filter(l -> l.startsWith("-A " + chain + " ")).toList();
              return saved
                      .lines()
                      .anyMatch(l -> l.startsWith("-A POSTROUTING") && l.endsWith("-j " + chain))
                  && !rules.isEmpty()
                  && rules.stream()
                      .anyMatch(l -> l.contains("-d 10.0.0.0/8") && l.endsWith("-j RETURN"))
                  && rules.getLast().contains("-j MASQUERADE");
            });
  }

  /** One jump in today's words, today's chain, and nothing older. */
  private static boolean ours(String saved) {
    return saved.lines().filter(l -> l.startsWith("-A POSTROUTING")).count() == 1
        && saved.contains("to our custom IP-MASQ-AGENT chain\" -m addrtype")
        && !saved.contains("\\\"")
        && !saved.contains("should")
        && !saved.contains(":IP-MASQ ")
        && inForce(saved);
  }

  /** Looks again and again in a thread of its own, until closed. */
  @SuppressWarnings("try") // an interrupt ends the test
  private static final class Watch implements AutoCloseable {
    private final Thread thread;
    private volatile boolean ended;
    private volatile Throwable failure;

    Watch(Runnable look) {
      thread =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      while (!ended) {
                        look.run();
                      }
                    } catch (RuntimeException | AssertionError e) {
                      failure = e;
                    }
                  });
    }

    @Override
    public void close() {
      ended = true;
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      if (failure != null) {
        throw new AssertionError("the watch broke", failure);
      }
    }
  }
}
