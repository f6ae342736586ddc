package ipmasq.backend.nftables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.net.Family;
import ipmasq.policy.Policy;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Namespace;
import ipmasq.testkit.Policies;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@KernelTest
class RulesWatchTest {
  private static final Policy POLICY = Policies.exempting("10.0.0.0/8");

  private Namespace namespace;

  @BeforeEach
  void open() {
    namespace = Namespace.open("watch");
  }

  @AfterEach
  void close() {
    namespace.close();
  }

  @Test
  void ofIptables() {
    namespace
        .feed(
            """
            *nat
            :OURS - [0:0]
            :OTHERS - [0:0]
            -A POSTROUTING -j OURS
            -A OURS -d 10.0.0.0/8 -j RETURN
            -A OURS -j MASQUERADE
            COMMIT
            """,
            "iptables-nft-restore")
        .ok();
    try (RulesWatch watch =
        RulesWatch.ofIptables(List.of(Family.IPV4, Family.IPV6), List.of("OURS"))) {
      Optional<Object> mark = mark(watch);
      assertTrue(mark.isPresent());
      iptables("-A", "OTHERS", "-j", "ACCEPT");
      iptables("-A", "OUTPUT", "-j", "ACCEPT");
      namespace.nft("add", "table", "inet", "another");
      assertEquals(mark, mark(watch));
      for (String change :
          List.of(
              "-I OURS -j ACCEPT",
              "-D OURS 1",
              "-F OURS",
              "-A POSTROUTING -j OTHERS",
              "-D POSTROUTING -j OURS",
              "-X OURS",
              "-N OURS",
              "-A POSTROUTING -j OURS",
              "-F POSTROUTING")) {
        Optional<Object> before = mark(watch);
        iptables(change.split(" "));
        boolean emptied = change.equals("-X OURS") || change.equals("-N OURS");
        // An empty chain is as good as none: to both leads no jump.
        assertEquals(emptied, before.equals(mark(watch)), change);
      }
    }
  }

  @Test
  void aRuleThatIsReplacedUnderItsHandleIsSeen() {
    iptables("-N", "OURS");
    iptables("-A", "OURS", "-d", "10.0.0.0/8", "-j", "RETURN");
    try (RulesWatch watch = RulesWatch.ofIptables(List.of(Family.IPV4), List.of("OURS"))) {
      Optional<Object> mark = mark(watch);
      iptables("-R", "OURS", "1", "-d", "11.0.0.0/8", "-j", "RETURN");
      assertNotEquals(mark, mark(watch));
    }
  }

  @Test
  void aTableThatIsMadeAnewWithOtherRulesUnderTheSameHandlesIsSeen() {
    String text = "*nat\n:OURS - [0:0]\n-A OURS -d %s -j RETURN\nCOMMIT\n";
    namespace.feed(text.formatted("10.0.0.0/8"), "iptables-nft-restore").ok();
    try (RulesWatch watch = RulesWatch.ofIptables(List.of(Family.IPV4), List.of("OURS"))) {
      for (String range : List.of("11.0.0.0/8", "12.0.0.0/8")) {
        Optional<Object> mark = mark(watch);
        namespace.nft("delete", "table", "ip", "nat");
        namespace.feed(text.formatted(range), "iptables-nft-restore").ok();
        assertNotEquals(mark, mark(watch));
      }
    }
  }

  @Test
  void packetsThatAreCountedAreNoChange() {
    namespace
        .feed(
            "*nat\n:OURS - [0:0]\n[1:60] -A OURS -d 10.0.0.0/8 -j RETURN\nCOMMIT\n",
            "iptables-nft-restore",
            "--counters")
        .ok();
    try (RulesWatch watch = RulesWatch.ofIptables(List.of(Family.IPV4), List.of("OURS"))) {
      Optional<Object> mark = mark(watch);
      iptables("-Z", "OURS");
      assertEquals(mark, namespace.call(watch::freshFingerprint));
    }
  }

  @Test
  void ofOurTableWhileItIsOwned() {
    try (Node node = new Node(namespace, true);
        RulesWatch watch = RulesWatch.ofOwnTable(List.of("OURS"))) {
      Optional<Object> nothing = mark(watch);
      node.sync(POLICY);
      Optional<Object> mark = mark(watch);
      assertNotEquals(nothing, mark);
      namespace.nft("add", "table", "inet", "another");
      namespace.nft("flush", "ruleset");
      assertEquals(mark, mark(watch));
      node.table().close();
      namespace.nft("add", "table", "inet", "another");
      assertNotEquals(mark, mark(watch), "nobody owns it any longer");
    }
  }

  @Test
  void ofATableThatAnybodyCanChangeEveryCommitCounts() {
    try (Node node = new Node(namespace, false);
        RulesWatch watch = RulesWatch.ofOwnTable(List.of("OURS"))) {
      node.sync(POLICY);
      Optional<Object> mark = mark(watch);
      assertEquals(mark, mark(watch));
      namespace.nft("add", "table", "inet", "another");
      assertNotEquals(mark, mark(watch));
      assertFalse(mark.isEmpty());
    }
  }

  private Optional<Object> mark(RulesWatch watch) {
    return namespace.call(watch::fingerprint);
  }

  private void iptables(String... words) {
    String[] command = new String[words.length + 3];
    command[0] = "iptables-nft";
    command[1] = "-t";
    command[2] = "nat";
    System.arraycopy(words, 0, command, 3, words.length);
    namespace.run(command).ok();
  }
}
