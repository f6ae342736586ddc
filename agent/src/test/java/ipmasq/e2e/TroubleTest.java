package ipmasq.e2e;

import static ipmasq.e2e.Expected.DEFAULTS;
import static ipmasq.e2e.Expected.DEFAULTS6;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.FakePrograms;
import ipmasq.testkit.FakePrograms.Behaviour;
import ipmasq.testkit.KernelTest;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What the agent cannot do it says, in one clear line, and tries again until it can. */
@KernelTest
@Tag("fault")
@Execution(ExecutionMode.CONCURRENT)
class TroubleTest {
  /** With a free choice it would turn to nftables after a while. */
  private static final String[] OFTEN = {
    "--resync-interval=1", "--enable-ipv6", "--backend=iptables"
  };

  @Test
  void withoutTheRightToChangeRulesItSaysWhichOneItNeedsAndStays() {
    try (Node node = Node.open()) {
      AgentProcess agent =
          node.startBy(List.of("setpriv", "--bounding-set=-net_admin", "--inh-caps=-all"), OFTEN);
      agent.awaitLine(line -> line.contains(" ERROR ") && line.contains("capability NET_ADMIN"));
      agent.awaitLine(line -> line.contains("IPv6 nat table") && line.contains("NET_ADMIN"));
      assertTrue(agent.running());
      assertTrue(node.untouched());
      agent.terminate();
      assertEquals(0, agent.awaitExit());
    }
  }

  @Test
  void itHealsWhenTheRightIsGivenBack() {
    // The words of a kernel that refuses, by a program that can be told to stop saying them.
    String words = "iptables-save: Could not fetch rule set generation id: Permission denied";
    try (Node node = Node.open()) {
      FakePrograms programs = node.fakePrograms();
      programs.set("iptables-save", new Behaviour.Fail(4, words));
      AgentProcess agent = node.start(OFTEN);
      agent.awaitLine(line -> line.contains(words) && line.contains("capability NET_ADMIN"));
      programs.set("iptables-save", new Behaviour.Real());
      node.awaitRules(Family.IPV4, DEFAULTS);
    }
  }

  @Test
  void withoutIptablesItWaitsForIt() {
    try (Node node = Node.open()) {
      FakePrograms programs = node.fakePrograms();
      programs.removeAll();
      AgentProcess agent = node.start(OFTEN);
      agent.awaitLine(l -> l.contains("iptables-save was not found on PATH (" + programs.path()));
      agent.awaitLine(line -> line.contains("ip6tables-save was not found on PATH"));
      assertTrue(agent.running());
      for (String name : List.of("iptables", "ip6tables")) {
        programs.set(name + "-restore", new Behaviour.Real());
        programs.set(name + "-save", new Behaviour.Real());
      }
      node.awaitRules(Family.IPV4, DEFAULTS);
      node.awaitRules(Family.IPV6, DEFAULTS6);
    }
  }

  @Test
  void withoutIptablesAndFreeToChooseItWritesNftables() {
    try (Node node = Node.open()) {
      node.fakePrograms().removeAll();
      AgentProcess agent = node.running("--enable-ipv6");
      agent.awaitLine(line -> line.contains("cannot hold our rules: there is none on PATH"));
      assertTrue(node.namespace().nft("list", "ruleset").contains("masquerade fully-random"));
    }
  }

  static Stream<Arguments> misbehaviour() {
    return Stream.of(
        Arguments.of("save", new Behaviour.Hang(), "iptables-save did not end within 1 s"),
        Arguments.of("save", new Behaviour.HangWithChild(), "iptables-save did not end within 1 s"),
        Arguments.of("restore", new Behaviour.Hang(), "iptables-restore did not end within 1 s"),
        Arguments.of("save", new Behaviour.Fail(3, "no luck today"), "status 3: no luck today"),
        Arguments.of("restore", new Behaviour.Fail(1, "nor now"), "status 1: nor now"),
        Arguments.of(
            "restore",
            new Behaviour.Fail(4, "Another app is currently holding the xtables lock."),
            "another program holds /run/xtables.lock"),
        Arguments.of("save", new Behaviour.Print("who's there?\n"), "who's there?"),
        Arguments.of("save", new Behaviour.Print("*nat\n:POSTROUTING ACC"), "cannot be used"));
  }

  @ParameterizedTest
  @MethodSource
  void misbehaviour(String program, Behaviour behaviour, String words) {
    try (Node node = Node.open()) {
      FakePrograms programs = node.fakePrograms();
      node.environment("JDK_JAVA_OPTIONS", "-Dipmasq.iptables.deadline=1");
      // What kind of iptables it is, IPv6 finds out too: then nothing but the restore is in the
      // way.
      programs.set("iptables-restore", new Behaviour.Fail(1, "not yet"));
      programs.set("iptables-" + program, behaviour);
      AgentProcess agent = node.start(OFTEN);
      agent.awaitLine(line -> line.contains(" ERROR ") && line.contains(words));
      // The other family never waited for this one.
      assertEquals(DEFAULTS6, node.rules(Family.IPV6));
      assertEquals(List.of(), node.rules(Family.IPV4));
      programs.set("iptables-" + program, new Behaviour.Real());
      programs.set("iptables-restore", new Behaviour.Real());
      node.awaitRules(Family.IPV4, DEFAULTS);
    }
  }

  @Test
  void halfOfWhatStandsThereIsNoReasonToWrite() {
    try (Node node = Node.open()) {
      FakePrograms programs = node.fakePrograms();
      AgentProcess agent = node.running(OFTEN);
      long writes = programs.runs("iptables-restore");
      programs.set("iptables", new Behaviour.Cut(300));
      node.namespace().run("iptables", "-t", "nat", "-A", "POSTROUTING", "-j", "ACCEPT").ok();
      agent.awaitLine(line -> line.contains("what iptables printed cannot be used"));
      programs.set("iptables", new Behaviour.Real());
      agent.awaitLine(line -> line.contains("IPv4 rules are in place again"));
      assertEquals(writes, programs.runs("iptables-restore"));
    }
  }

  @Test
  void aRestoreThatFailsAfterItsWorkIsFoundOut() {
    try (Node node = Node.open()) {
      FakePrograms programs = node.fakePrograms();
      programs.set("iptables-restore", new Behaviour.FailAfter(1, "broken pipe"));
      AgentProcess agent = node.start(OFTEN);
      agent.awaitLine(line -> line.contains("status 1: broken pipe"));
      agent.awaitLine(line -> line.contains("IPv4 rules are in place again"));
      assertEquals(DEFAULTS, node.rules(Family.IPV4));
    }
  }

  @ParameterizedTest
  @EnumSource
  void aFamilyThatFailsDoesNotStopTheOther(Family failing) {
    Family other = failing == Family.IPV4 ? Family.IPV6 : Family.IPV4;
    String program = failing == Family.IPV4 ? "iptables" : "ip6tables";
    try (Node node = Node.open()) {
      FakePrograms programs = node.fakePrograms();
      programs.set(program + "-restore", new Behaviour.Fail(3, "no nat table here"));
      AgentProcess agent = node.start(OFTEN);
      agent.awaitLine(line -> line.contains(program + "-restore ended with status 3"));
      node.awaitRules(other, Expected.defaults(other));
      node.iptables(other, "-F IP-MASQ-AGENT");
      node.awaitRules(other, Expected.defaults(other));
      assertEquals(List.of(), node.rules(failing));
      programs.set(program + "-restore", new Behaviour.Real());
      node.awaitRules(failing, Expected.defaults(failing));
      agent.awaitLine(line -> line.matches(".*" + failing + " rules changed \\(.*retry, .*"));
    }
  }
}
