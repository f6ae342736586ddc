package ipmasq.backend.iptables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.backend.Outcome;
import ipmasq.iptables.Commands;
import ipmasq.net.Family;
import ipmasq.net.PortRange;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Namespace;
import ipmasq.testkit.Policies;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The backend against a real nat table, with both of the node's possible iptables. */
@KernelTest
@Tag("listing")
class IptablesBackendKernelTest {
  private static final Policy DEFAULTS =
      Policies.exempting("169.254.0.0/16", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16");
  private static final String DEFAULT_RULES =
      """
      :IP-MASQ-AGENT - [0:0]
      -A POSTROUTING JUMP
      -A IP-MASQ-AGENT -d 169.254.0.0/16 -m comment --comment "LOCAL" -j RETURN
      -A IP-MASQ-AGENT -d 10.0.0.0/8 -m comment --comment "LOCAL" -j RETURN
      -A IP-MASQ-AGENT -d 172.16.0.0/12 -m comment --comment "LOCAL" -j RETURN
      -A IP-MASQ-AGENT -d 192.168.0.0/16 -m comment --comment "LOCAL" -j RETURN
      -A IP-MASQ-AGENT -m comment --comment "OUTBOUND" -j MASQUERADE --random-fully
      """;
  private static final String FOREIGN =
      """
      :OTHERS - [0:0]
      -A POSTROUTING -s 10.9.0.0/16 -m comment --comment "it's \\"mine\\"" -j ACCEPT
      -A POSTROUTING -j OTHERS
      """;

  private Namespace namespace;
  private KernelTable table;

  @BeforeEach
  void open() {
    namespace = Namespace.open("iptables");
  }

  @AfterEach
  void close() throws IOException {
    namespace.close();
    table.close();
  }

  private KernelTable table(String variant) throws IOException {
    table = new KernelTable(namespace, variant);
    return table;
  }

  private void assertRules(String expected) {
    assertEquals(Tables.full(expected), table.rules(Family.IPV4));
  }

  @ParameterizedTest
  @ValueSource(strings = {"nft", "legacy"})
  void firstInstall(String variant) throws IOException {
    table(variant);
    assertFalse(table.sync(DEFAULTS).isEmpty());
    assertRules(DEFAULT_RULES);
  }

  @ParameterizedTest
  @ValueSource(strings = {"nft", "legacy"})
  void ipv6Alike(String variant) throws IOException {
    table(variant);
    table.sync(Policies.exempting("fe80::/10", "fd00::/8", "::10.0.0.0/104", "::/0"));
    assertEquals(
        Tables.full(
            """
            :IP-MASQ-AGENT - [0:0]
            -A POSTROUTING JUMP
            -A IP-MASQ-AGENT -d fe80::/10 -m comment --comment "LOCAL" -j RETURN
            -A IP-MASQ-AGENT -d fd00::/8 -m comment --comment "LOCAL" -j RETURN
            -A IP-MASQ-AGENT -d ::10.0.0.0/104 -m comment --comment "LOCAL" -j RETURN
            -A IP-MASQ-AGENT -m comment --comment "LOCAL" -j RETURN
            -A IP-MASQ-AGENT -m comment --comment "OUTBOUND" -j MASQUERADE --random-fully
            """),
        table.rules(Family.IPV6));
    assertEquals("", table.rules(Family.IPV4));
    table.remove(Family.IPV6);
    assertEquals("", table.rules(Family.IPV6));
  }

  @ParameterizedTest
  @ValueSource(strings = {"nft", "legacy"})
  void tamperingIsHealed(String variant) throws IOException {
    table(variant);
    table.sync(DEFAULTS);
    table.others(Family.IPV4, "-F IP-MASQ-AGENT\n");
    table.sync(DEFAULTS);
    assertRules(DEFAULT_RULES);
    table.others(Family.IPV4, "-D POSTROUTING JUMP\n");
    table.sync(DEFAULTS);
    assertRules(DEFAULT_RULES);
    table.others(Family.IPV4, "-I IP-MASQ-AGENT -p tcp -m tcp --dport 80 -j ACCEPT\n");
    table.sync(DEFAULTS);
    assertRules(DEFAULT_RULES);
    table.others(Family.IPV4, "-D IP-MASQ-AGENT 2\n");
    table.sync(DEFAULTS);
    assertRules(DEFAULT_RULES);
    table.others(Family.IPV4, "-F\n-X\n");
    table.sync(DEFAULTS);
    assertRules(DEFAULT_RULES);
  }

  @ParameterizedTest
  @ValueSource(strings = {"nft", "legacy"})
  void whatFormerVersionsLeftIsSwept(String variant) throws IOException {
    table(variant);
    String ensure =
        "ensure nat POSTROUTING directs all non-LOCAL destination traffic to our custom ";
    table.others(Family.IPV4, FOREIGN);
    table.others(
        Family.IPV4,
        """
        :IP-MASQ-AGENT - [0:0]
        :IP-MASQ - [0:0]
        :NON-MASQUERADE-DAEMON - [0:0]
        :MINE - [0:0]
        :MINE-OUT - [0:0]
        -A POSTROUTING -m comment --comment "\\"ip-masq-agent: %1$sIP-MASQ-AGENT chain\\"" -m addrtype ! --dst-type LOCAL -j IP-MASQ-AGENT
        -A POSTROUTING -m comment --comment "ip-masq: %1$sIP-MASQ chain" -m addrtype ! --dst-type LOCAL -j IP-MASQ
        -A POSTROUTING -m comment --comment "non-masquerade-daemon: %1$sNON-MASQUERADE-DAEMON chain" -m addrtype ! --dst-type LOCAL -j NON-MASQUERADE-DAEMON
        -A POSTROUTING -m comment --comment "ip-masq-agent: %1$sMINE chain" -m addrtype ! --dst-type LOCAL -j MINE
        -A POSTROUTING JUMP
        -A POSTROUTING JUMP
        -A IP-MASQ-AGENT -d 10.0.0.0/8 -m comment --comment "ip-masq-agent: cluster-local traffic should not be subject to MASQUERADE" -m addrtype ! --dst-type LOCAL -j RETURN
        -A IP-MASQ-AGENT -m comment --comment "ip-masq-agent: outbound traffic should be subject to MASQUERADE (this match must come after cluster-local CIDR matches)" -m addrtype ! --dst-type LOCAL -j MASQUERADE
        -A IP-MASQ -d 10.0.0.0/8 -m comment --comment "ip-masq: RFC 1918 reserved range is not subject to MASQUERADE" -j RETURN
        -A IP-MASQ -m comment --comment "ip-masq: outbound traffic is subject to MASQUERADE (must be last in chain)" -j MASQUERADE
        -A NON-MASQUERADE-DAEMON -m comment --comment "non-masquerade-daemon: outbound traffic should be subject to MASQUERADE (this match must come after cluster-local CIDR matches)" -m addrtype ! --dst-type LOCAL -j MASQUERADE
        -A MINE -m comment --comment "OUTBOUND" -j MINE-OUT
        -A MINE-OUT -m comment --comment "OUTBOUND" -j MASQUERADE
        """
            .formatted(ensure));
    table.others(Family.IPV4, "-A POSTROUTING -s 10.8.0.0/16 -j ACCEPT\n");
    table.kept("MINE");
    Plan plan = table.sync(DEFAULTS);
    assertTrue(
        plan.changes().toString().contains("~chain IP-MASQ of the node's bootstrap"),
        plan.changes().toString());
    assertRules(
        """
        :IP-MASQ-AGENT - [0:0]
        :OTHERS - [0:0]
        -A POSTROUTING -s 10.9.0.0/16 -m comment --comment "it\\'s \\"mine\\"" -j ACCEPT
        -A POSTROUTING -j OTHERS
        -A POSTROUTING JUMP
        -A POSTROUTING -s 10.8.0.0/16 -j ACCEPT
        """
            + DEFAULT_RULES.substring(DEFAULT_RULES.indexOf("-A IP-MASQ-AGENT")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"nft", "legacy"})
  void aRenamedChainTakesOver(String variant) throws IOException {
    table(variant);
    table.sync("MY-CHAIN", Policies.exempting("!10.1.0.0/16", "10.0.0.0/8"));
    table.sync(DEFAULTS);
    assertRules(DEFAULT_RULES);
  }

  @ParameterizedTest
  @ValueSource(strings = {"nft", "legacy"})
  void removalLeavesTheTableAsItWas(String variant) throws IOException {
    table(variant);
    table.others(Family.IPV4, FOREIGN);
    String before = table.rules(Family.IPV4);
    table.sync(Policies.exempting("!10.1.0.0/16", "10.0.0.0/8"));
    table.others(Family.IPV4, "-A POSTROUTING JUMP\n");
    table.remove(Family.IPV4);
    assertEquals(before, table.rules(Family.IPV4));
    table.sync(DEFAULTS);
    table.others(Family.IPV4, "-A POSTROUTING -p tcp -j IP-MASQ-AGENT\n");
    table.remove(Family.IPV4);
    assertRules(
        """
        :IP-MASQ-AGENT - [0:0]
        """
            + before
            + "-A POSTROUTING -p tcp -j IP-MASQ-AGENT\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"nft", "legacy"})
  void everyKindOfPolicyIsReadBack(String variant) throws IOException {
    table(variant);
    Random random = new Random(7);
    for (int i = 0; i < 40; i++) {
      table.sync(Policies.random(random));
    }
    table.sync(
        Policies.of(
            Family.IPV4,
            Policies.ports(new PortRange(1024, 29999), new PortRange(32768, 65535)),
            "10.0.0.0/8"));
    assertTrue(table.rules(Family.IPV4).contains("--probability 0.46929256292 "));
    table.remove(Family.IPV4);
    table.remove(Family.IPV6);
    assertEquals("", table.rules(Family.IPV4) + table.rules(Family.IPV6));
  }

  @ParameterizedTest
  @ValueSource(strings = {"nft", "legacy"})
  void aRuleThatVanishesMeanwhileIsALostRace(String variant) throws IOException {
    table(variant);
    table.sync(DEFAULTS);
    table.others(Family.IPV4, "-A POSTROUTING JUMP\n");
    namespace.call(
        () -> {
          IptablesBackend backend = table.backend("IP-MASQ-AGENT");
          Plan plan = Plan.toward(DEFAULTS, KernelTable.observe(backend, Family.IPV4));
          table.others(Family.IPV4, "-F POSTROUTING\n");
          assertInstanceOf(Outcome.Retry.class, backend.apply(plan));
          assertEquals("", table.rules(Family.IPV4).replaceAll("(?m)^[-:]A? ?IP-MASQ.*\n", ""));
          return null;
        });
    table.sync(DEFAULTS);
    assertRules(DEFAULT_RULES);
  }

  @ParameterizedTest
  @ValueSource(strings = {"nft", "legacy"})
  void tenThousandRanges(String variant) throws IOException {
    List<String> ranges = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      ranges.add("20." + (i >> 8) + "." + (i & 255) + ".0/24");
    }
    table(variant);
    table.sync(Policies.exempting(ranges.toArray(String[]::new)));
    assertEquals(10_003, table.rules(Family.IPV4).lines().count());
    table.remove(Family.IPV4);
  }

  @ParameterizedTest
  @ValueSource(strings = {"nft", "legacy"})
  void withoutTheCapabilityTheErrorSaysSo(String variant) throws IOException {
    table(variant);
    table.sync(DEFAULTS);
    String errors =
        namespace
            .run(
                "setpriv",
                "--bounding-set",
                "-net_admin",
                "--inh-caps",
                "-net_admin",
                "iptables-" + variant + "-save",
                "-t",
                "nat")
            .stderr();
    assertTrue(
        FailureAdvice.of("iptables-save", Family.IPV4, new Commands.CommandResult.Ended(4, errors))
            .advice()
            .contains("NET_ADMIN"),
        errors);
  }

  @ParameterizedTest
  @ValueSource(strings = {"nft", "legacy"})
  void inACrowdOurChainsAreStillSeen(String variant) throws IOException {
    table(variant);
    StringBuilder crowd = new StringBuilder(":OTHERS - [0:0]\n");
    for (int i = 0; i < 1_000; i++) {
      crowd.append("-A OTHERS -d 10.9.").append(i >> 8).append('.').append(i & 255);
      crowd.append("/32 -j ACCEPT\n");
    }
    table.others(Family.IPV4, crowd.toString());
    Policy policy = Policies.exempting("!10.1.0.0/16", "10.0.0.0/8");
    namespace.call(
        () -> {
          IptablesBackend backend = table.backend("IP-MASQ-AGENT");
          assertEquals(
              new Outcome.Applied(),
              backend.apply(Plan.toward(policy, KernelTable.observe(backend, Family.IPV4))));
          assertTrue(Plan.toward(policy, KernelTable.observe(backend, Family.IPV4)).isEmpty());
          table.others(Family.IPV4, "-D IP-MASQ-AGENT 1\n");
          assertFalse(Plan.toward(policy, KernelTable.observe(backend, Family.IPV4)).isEmpty());
          return null;
        });
  }
}
