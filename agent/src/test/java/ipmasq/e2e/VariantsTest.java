package ipmasq.e2e;

import static ipmasq.e2e.Expected.DEFAULTS;
import static ipmasq.e2e.Expected.DEFAULTS6;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.FakePrograms;
import ipmasq.testkit.FakePrograms.Behaviour;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Legacy or nft: the one that the node uses, and that one alone. */
@KernelTest
@Tag("listing")
@Execution(ExecutionMode.CONCURRENT)
class VariantsTest {
  private static final String LEGACY = "-legacy";
  private static final String NFT = "-nft";

  @ParameterizedTest
  @ValueSource(strings = {LEGACY, NFT})
  void whatTheNodeCallsIptablesIsUsedAndHealed(String infix) throws IOException {
    try (Node node = Node.open()) {
      call(node, infix);
      AgentProcess agent = node.running("--enable-ipv6", "--resync-interval=1");
      agent.awaitLine(line -> line.contains("backend iptables" + infix + ": "));
      onlyIn(infix, node);
      node.namespace().run("iptables" + infix, "-t", "nat", "-F").ok();
      node.awaitRules(Family.IPV4, infix, DEFAULTS);
    }
  }

  /** As {@code update-alternatives --set iptables} does. */
  private static void call(Node node, String infix) throws IOException {
    Path programs = Files.createDirectories(node.volume().directory().resolve("..programs"));
    for (String name : List.of("iptables", "ip6tables")) {
      for (String tool : List.of("", "-save", "-restore")) {
        Path link = programs.resolve("..new");
        Files.createSymbolicLink(link, Path.of("/usr/sbin", name + infix + tool).toRealPath());
        Files.move(link, programs.resolve(name + tool), StandardCopyOption.ATOMIC_MOVE);
      }
    }
    node.environment("PATH", programs + ":/usr/sbin:/usr/bin:/sbin:/bin");
  }

  @ParameterizedTest
  @ValueSource(strings = {LEGACY, NFT})
  void whenTheNodeCallsAnotherIptablesTheRulesMoveOnce(String infix) throws IOException {
    String other = infix.equals(LEGACY) ? NFT : LEGACY;
    try (Node node = Node.open()) {
      call(node, infix);
      AgentProcess agent = node.running("--enable-ipv6", "--resync-interval=1", "--v=2");
      agent.awaitLine(line -> line.contains("backend iptables" + infix + ": "));
      call(node, other);
      node.awaitRules(Family.IPV4, other, DEFAULTS);
      node.awaitRules(Family.IPV4, infix, List.of());
      node.awaitRules(Family.IPV6, other, DEFAULTS6);
      node.awaitRules(Family.IPV6, infix, List.of());
      awaitCalm(agent);
      long before = count(agent, "rules changed");
      awaitCalm(agent);
      onlyIn(other, node);
      assertEquals(before, count(agent, "rules changed"), agent.toString());
    }
  }

  private static void awaitCalm(AgentProcess agent) {
    long calm = count(agent, "found everything in place");
    Eventually.within(
        Node.PATIENCE,
        "more reads that find nothing to do",
        () -> count(agent, "found everything in place"),
        now -> now > calm + 2);
  }

  private static long count(AgentProcess agent, String words) {
    return agent.stderr().stream().filter(line -> line.contains(words)).count();
  }

  /** Text of others goes over lines: a chain is healed beside it, and removed. */
  @ParameterizedTest
  @ValueSource(strings = {LEGACY, NFT})
  void lineEndsInOthersRulesDisturbNothing(String infix) throws IOException {
    try (Node node = Node.open()) {
      call(node, infix);
      AgentProcess agent = node.running();
      String program = "iptables" + infix;
      for (List<String> rule :
          List.of(
              List.of("-m", "comment", "--comment", "one\ntwo"),
              List.of("-m", "comment", "--comment", "x\n-A POSTROUTING -j IP-MASQ-AGENT\nCOMMIT"),
              List.of("-m", "comment", "--comment", "quote \" backslash \\\n\""),
              List.of("-o", "a\nb"))) {
        List<String> words = new ArrayList<>(List.of(program, "-w", "-t", "nat"));
        words.addAll(List.of("-A", "POSTROUTING", "-s", "192.168.9.9"));
        words.addAll(rule);
        words.addAll(List.of("-j", "ACCEPT"));
        node.namespace().run(words.toArray(String[]::new)).ok();
      }
      node.namespace().run(program, "-w", "-t", "nat", "-F", "IP-MASQ-AGENT").ok();
      Eventually.within(
          Node.PATIENCE,
          "the chain",
          () -> node.rules(Family.IPV4, infix),
          rules -> rules.containsAll(DEFAULTS));
      agent.terminate();
      agent.awaitExit();
      Result cleanup = node.command("cleanup");
      assertEquals(0, cleanup.exit(), cleanup.toString());
      List<String> left = node.rules(Family.IPV4, infix);
      assertEquals(List.of(), left.stream().filter(DEFAULTS::contains).toList());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {LEGACY, NFT})
  void theKubeletsHintDecides(String infix) {
    try (Node node = Node.open()) {
      // Whatever iptables without a suffix is: the other one.
      FakePrograms programs = node.fakePrograms();
      node.namespace().run("iptables" + infix, "-t", "mangle", "-N", "KUBE-IPTABLES-HINT").ok();
      AgentProcess agent = node.running("--enable-ipv6");
      agent.awaitLine(line -> line.contains("KUBE-IPTABLES-HINT is there"));
      onlyIn(infix, node);
      assertEquals(0, programs.runs("iptables-restore"));
    }
  }

  @Test
  void theHintOfAnOlderKubeletDecidesToo() {
    try (Node node = Node.open()) {
      node.namespace()
          .run("iptables-legacy", "-w", "-t", "mangle", "-N", "KUBE-KUBELET-CANARY")
          .ok();
      node.running("--enable-ipv6");
      onlyIn(LEGACY, node);
    }
  }

  @Test
  void anIptablesThatCannotRandomisePortsIsSpared() {
    try (Node node = Node.open()) {
      FakePrograms programs = node.fakePrograms();
      programs.set(
          "iptables-save",
          new Behaviour.Print(
              "# Generated by iptables-save v1.6.0 (nf_tables) on now\n*nat\nCOMMIT\n"));
      programs.set("iptables-restore", new Behaviour.Real());
      // Once: a running agent would look again, see nothing again, and write again.
      node.command("apply").ok();
      List<String> plain = DEFAULTS.stream().map(r -> r.replace(" --random-fully", "")).toList();
      assertEquals(plain, node.rules(Family.IPV4));
    }
  }

  private static void onlyIn(String infix, Node node) {
    String other = infix.equals(LEGACY) ? NFT : LEGACY;
    assertEquals(DEFAULTS, node.rules(Family.IPV4, infix));
    assertEquals(DEFAULTS6, node.rules(Family.IPV6, infix));
    assertEquals(List.of(), node.rules(Family.IPV4, other));
    assertEquals(List.of(), node.rules(Family.IPV6, other));
  }
}
