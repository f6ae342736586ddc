package ipmasq.e2e;

import static ipmasq.e2e.Expected.DEFAULTS;
import static ipmasq.e2e.Expected.LINK_LOCAL;
import static ipmasq.e2e.Expected.rules;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.http.Fetch;
import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Result;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules are in force, but not those that somebody wrote: ready, and amber in every headline. */
@KernelTest
@Execution(ExecutionMode.CONCURRENT)
class AmberTest {
  private static final String LISTEN = "--listen=127.0.0.1:10346";
  private static final InetSocketAddress AGENT = new InetSocketAddress("127.0.0.1", 10346);
  private static final String NARROW = "nonMasqueradeCIDRs: [10.9.0.0/16]\n";
  private static final String MISSPELLED = "nonMasqueradeCIDR: [10.9.0.0/16]\n";
  private static final List<String> NARROW_RULES = rules(LINK_LOCAL, "10.9.0.0/16");

  private static Fetch.Fetched get(Node node, String path) {
    try {
      return node.namespace().call(() -> Fetch.get(AGENT, path));
    } catch (Exception e) {
      throw new AssertionError(path, e);
    }
  }

  /** The same words in the text, the JSON, on the page and for the kubelet; and the metrics. */
  private static void isAmber(Node node, int ignoredKeys, String phrase) {
    String sentence = "is in force, but " + phrase + ".";
    Result text = node.command("status", LISTEN);
    assertEquals(0, text.exit(), text.toString());
    assertTrue(text.stdout().lines().findFirst().orElseThrow().endsWith(sentence), text.stdout());
    String json = node.command("status", LISTEN, "-o", "json").stdout();
    assertTrue(json.contains(sentence) && json.contains("\"warn\""), json);
    String page = get(node, "/api/status").body(); // the page shows its headline
    assertTrue(page.contains(sentence) && page.contains("\"warn\""), page);
    Fetch.Fetched ready = get(node, "/readyz");
    assertEquals(200, ready.status(), ready.body());
    assertTrue(ready.body().contains(phrase), ready.body());
    String metrics = get(node, "/metrics").body();
    assertTrue(metrics.contains("\nip_masq_agent_config_ignored_keys " + ignoredKeys + "\n"));
    assertTrue(metrics.contains("\nip_masq_agent_ok 1\n"), metrics);
    assertTrue(metrics.contains("\nip_masq_agent_ready 1\n"), metrics);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1 key of the file was ignored: the default list applies|" + MISSPELLED,
        "3 keys of the file were ignored: the default list applies|apiVersion: v1\nkind:"
            + " ConfigMap\ndata:\n  config: |\n    "
            + NARROW,
        "4 keys of the file were ignored: the default list applies|apiVersion: apps/v1\nkind:"
            + " DaemonSet\nmetadata: {}\nspec: {}\n"
      })
  void whatTheFileSaysIsIgnored(String phraseAndFile) {
    String[] parts = phraseAndFile.split("\\|", 2);
    try (Node node = Node.open()) {
      node.volume().publish(parts[1]);
      node.running(LISTEN);
      assertEquals(DEFAULTS, node.rules(Family.IPV4));
      isAmber(node, Integer.parseInt(parts[0].substring(0, 1)), parts[0]);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"--strict", "strict: true\n"})
  void aStrictOneStaysWithTheLastGoodFile(String strict) {
    boolean flag = strict.startsWith("--");
    try (Node node = Node.open()) {
      node.volume().publish(NARROW);
      AgentProcess agent =
          node.running(flag ? new String[] {LISTEN, strict} : new String[] {LISTEN});
      node.volume().publish(MISSPELLED + (flag ? "" : strict));
      agent.awaitLine(line -> line.contains("1 key of the file would be ignored, which strict"));
      assertEquals(NARROW_RULES, node.rules(Family.IPV4));
      assertTrue(get(node, "/metrics").body().contains("\nip_masq_agent_config_ignored_keys 0\n"));
    }
  }

  /** A volume that went away says nothing; a ConfigMap that was deleted means the defaults. */
  @Test
  void aVolumeIsUnmounted(@TempDir Path other) throws Exception {
    try (Node node = Node.open()) {
      Path mount = node.volume().directory();
      Path file = Files.writeString(other.resolve("ip-masq-agent"), NARROW);
      String mounted = "mount --bind " + other + " " + mount;
      AgentProcess agent =
          node.startBy(
              List.of("unshare", "--mount", "sh", "-c", mounted + " && exec \"$0\" \"$@\""),
              LISTEN);
      Node.awaitFirstPass(agent);
      assertEquals(NARROW_RULES, node.rules(Family.IPV4));
      String inside = "nsenter --mount --target " + agent.pid() + " ";
      node.shell(inside + "umount " + mount).ok();
      String phrase =
          "the volume " + mount + " is not mounted any more: the last config stays in force";
      agent.awaitLine(line -> line.contains(phrase));
      assertEquals(NARROW_RULES, node.rules(Family.IPV4));
      isAmber(node, 0, phrase);
      node.shell(inside + mounted).ok();
      Eventually.within(
          Node.PATIENCE,
          "the file again",
          () -> get(node, "/readyz").body(),
          ready -> !ready.contains(phrase));
      Files.delete(file);
      node.awaitRules(Family.IPV4, DEFAULTS);
    }
  }
}
