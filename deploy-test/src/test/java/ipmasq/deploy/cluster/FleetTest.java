package ipmasq.deploy.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ipmasq.deploy.Project;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.KernelTest;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The plugin in front of a real API server and a real DaemonSet controller with a thousand nodes
 * whose kubelets are played: pace and bookkeeping, not packets. {@code make fleet-test
 * BINARIES=DIR} writes {@code docs/fleet.md}.
 */
@KernelTest
@Tag("cluster")
class FleetTest {
  private static final int NODES = Integer.getInteger("ipmasq.fleet.nodes", 1000);
  private static final int DEAD = 10;
  private static final int MIN_READY = 5;

  private final List<String> figures = new ArrayList<>();
  private Transcript transcript;
  private Fleet fleet;
  private Terminal terminal;

  @Test
  void aThousandNodes() throws Exception {
    var given = System.getProperty("ipmasq.cluster.binaries", "");
    assumeTrue(
        !given.isEmpty(), "no BINARIES given: make fleet-test BINARIES=DIR, docs/cluster-test.md");
    var logs = Path.of("target/fleet").toAbsolutePath();
    transcript = new Transcript(logs.resolve("transcript.md"));
    try (var opened = new Fleet(Binaries.in(Path.of(given)), NODES, logs, transcript)) {
      fleet = opened;
      terminal = opened.terminal();
      tell();
    }
    Files.writeString(Project.file("docs/fleet.md"), page());
  }

  private void tell() throws Exception {
    Cluster.must(admin(Roles.BOUND)); // the plugin runs with nothing else
    Files.createDirectories(Project.file("deploy-test/target"));
    Cluster.must(
        admin(
            "kubectl create -f ip-masq-agent.yaml && kubectl -n kube-system patch daemonset"
                + " ip-masq-agent -p '{\"spec\":{\"minReadySeconds\":"
                + MIN_READY
                + "}}'"));
    Eventually.within(
        Duration.ofMinutes(5),
        "every node has a pod that is ready",
        () -> terminal.quietly("kubectl ip-masq status | tail -n 1").text(),
        text -> text.contains("%1$d of %1$d nodes are ready".formatted(NODES)));
    fleet.calls();
    transcript.say("## What was typed and printed\n\nThe state of all nodes:");
    timed("status", "kubectl ip-masq status | tail -n 1");

    transcript.say("No command outlives its `--timeout`, here with an API server that hangs:");
    var server = fleet.process("kube-apiserver");
    Cluster.must(terminal.quietly("kill -STOP " + server));
    try {
      bounded("status, while the API server hangs", 5, "status");
    } finally {
      Cluster.must(terminal.quietly("kill -CONT " + server));
    }
    bounded("apply that takes longer", 25, "apply --yes " + config("my-config", "10.0.0.0/9"));

    transcript.say("A good config. One node goes first, then 10 % at a time:");
    var good = apply("apply, all nodes well", config("my-config", "10.0.0.0/8"), 0, "");
    assertTrue(good.contains("%1$d of %1$d nodes have ".formatted(NODES)), good);

    transcript.say(
        DEAD + " nodes die. They count against the DaemonSet's pace, and get theirs later:");
    for (int i = 1; i <= DEAD; i++) {
      fleet.dead("n" + i, true);
    }
    timed("status with %d dead nodes".formatted(DEAD), "kubectl ip-masq status | tail -n 2");
    var rest =
        apply(
            "apply with %d dead nodes".formatted(DEAD),
            config("my-config", "10.0.0.0/8", "172.16.0.0/12"),
            0,
            "");
    assertTrue(rest.contains("%d of %d nodes have ".formatted(NODES - DEAD, NODES)), rest);
    assertTrue(rest.contains("get it when they return: n1 n2 "), rest);
    assertEquals("10%", pace());

    transcript.say(
        "A bad config, which the first node takes and no other. The rollout stops by itself:");
    var before = mounted();
    fleet.ready((node, config) -> config.isEmpty() || config.equals(before) || node.equals("n500"));
    fleet.deletions();
    var bad =
        apply(
            "apply of a bad config",
            config("my-config", "192.168.0.0/16"),
            1,
            " --canary=n500 --patience=15");
    int touched = fleet.deletions();
    assertTrue(touched <= NODES / 10 + DEAD + 2, touched + " nodes got the bad config");
    assertTrue(bad.contains("rollback returns to " + before), bad);
    figures.add("| nodes that got the bad config | %d of %d |".formatted(touched, NODES));
    timed("status while it is stopped", "kubectl ip-masq status | tail -n 4");

    transcript.say("Back:");
    var back = timed("rollback of the stopped rollout", "kubectl ip-masq rollback --yes");
    assertTrue(
        back.contains("%d of %d nodes have %s".formatted(NODES - DEAD, NODES, before)), back);
    terminal.type("kubectl ip-masq history | sed 's/20..-..-..T..:..:..Z/2026-01-01T00:00:00Z/'");

    transcript.say("Uninstalled; it waits for the dead nodes, and goes on when they return:");
    timed("uninstall with %d dead nodes".formatted(DEAD), 1, "kubectl ip-masq uninstall --yes");
    for (int i = 1; i <= DEAD; i++) {
      fleet.dead("n" + i, false);
    }
    timed("uninstall, the rest", "kubectl ip-masq uninstall --yes --configmaps");
  }

  private Terminal.Said admin(String script) throws Exception {
    return terminal.quietly(
        "export KUBECONFIG=\"${KUBECONFIG%operator.conf}admin.conf\"; set -e\n" + script);
  }

  private String mounted() throws Exception {
    return read("{.spec.template.spec.volumes[0].configMap.name}");
  }

  private String pace() throws Exception {
    return read("{.spec.updateStrategy.rollingUpdate.maxUnavailable}");
  }

  private String read(String path) throws Exception {
    return Cluster.must(
        terminal.quietly(
            "kubectl -n kube-system get daemonset ip-masq-agent -o jsonpath='" + path + "'"));
  }

  private String timed(String what, String command) throws Exception {
    return timed(what, 0, command);
  }

  private String timed(String what, int exit, String command) throws Exception {
    fleet.calls();
    var began = Instant.now();
    var said = terminal.quietly(command);
    var spent = Duration.between(began, Instant.now());
    transcript.command(command, said);
    figures.add("| %s | %.1f s, %s |".formatted(what, spent.toMillis() / 1e3, calls()));
    // What a pipe ends with says nothing.
    if (!command.contains("|")) {
      assertEquals(exit, said.exit(), said.text());
    }
    return said.text();
  }

  /** A command that cannot be done in time. */
  private void bounded(String what, int timeout, String command) throws Exception {
    var whole = "kubectl ip-masq %s --timeout=%d".formatted(command, timeout);
    var began = Instant.now();
    var said = terminal.quietly(whole);
    double spent = Duration.between(began, Instant.now()).toMillis() / 1e3;
    transcript.command(whole, said);
    figures.add("| %s: `--timeout=%d` | %.1f s |".formatted(what, timeout, spent));
    assertEquals(1, said.exit(), said.text());
    assertTrue(spent <= timeout + 2, whole + " took " + spent + " s");
  }

  private String apply(String what, String file, int exit, String flags) throws Exception {
    fleet.calls();
    var began = Instant.now();
    var command = "kubectl ip-masq apply " + file + " --yes" + flags;
    var said = terminal.quietly(command);
    var ended = Instant.now();
    transcript.command(command, said);
    assertEquals(exit, said.exit(), said.text());
    var after = Duration.between(fleet.lastReady(), ended).toMillis() / 1e3 - MIN_READY;
    figures.add(
        "| %s | %.1f s, of which %.1f s after the last node was available; %s |"
            .formatted(what, Duration.between(began, ended).toMillis() / 1e3, after, calls()));
    return said.text();
  }

  /** How many API calls, the most frequent kinds first. */
  private String calls() throws Exception {
    var kinds = new TreeMap<String, Integer>();
    var calls = fleet.calls();
    calls.forEach(call -> kinds.merge(call, 1, Integer::sum));
    var most =
        kinds.entrySet().stream()
            .sorted((a, b) -> b.getValue() - a.getValue())
            .limit(4)
            .map(kind -> kind.getValue() + " " + kind.getKey())
            .toList();
    return calls.size() + " API calls (" + String.join(", ", most) + ")";
  }

  private String config(String name, String... ranges) throws Exception {
    var path = "deploy-test/target/" + name;
    Files.writeString(
        Project.file(path), "nonMasqueradeCIDRs: [%s]%n".formatted(String.join(", ", ranges)));
    return path;
  }

  private String page() throws Exception {
    var machine = ManagementFactory.getOperatingSystemMXBean();
    var text = Project.text("docs/fleet.md");
    var head = text.substring(0, text.indexOf("<!-- figures -->"));
    var middle =
        text.substring(text.indexOf("<!-- formula -->"), text.indexOf("<!-- transcript -->"));
    return head
        + "<!-- figures -->\n\nEverything ran on one machine of %d processors, whose load average was %.0f at the end.%n%n"
            .formatted(machine.getAvailableProcessors(), machine.getSystemLoadAverage())
        + "| what | %,d nodes |%n|---|---|%n".formatted(NODES)
        + String.join("\n", figures)
        + "\n\n"
        + middle
        + "<!-- transcript -->\n\n"
        + transcript.markdown();
  }
}
