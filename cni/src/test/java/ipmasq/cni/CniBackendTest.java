package ipmasq.cni;

import static ipmasq.net.Family.IPV4;
import static ipmasq.net.Family.IPV6;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.backend.Backend;
import ipmasq.backend.Outcome;
import ipmasq.net.Cidr;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import ipmasq.plan.Plan;
import ipmasq.policy.Packet;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import ipmasq.policy.Translation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CniBackendTest {
  private static final Outcome APPLIED = new Outcome.Applied();
  @TempDir Path directory;

  private Node node() {
    return new Node(directory);
  }

  private static String conf(String... lists) {
    StringBuilder policies = new StringBuilder();
    for (String list : lists) {
      policies.append(policies.isEmpty() ? "" : ",");
      policies.append("{\"name\":\"EndpointPolicy\",\"value\":{\"Type\":\"OutBoundNAT\",");
      policies.append("\"ExceptionList\":").append(list).append("}}");
    }
    return "{\"type\":\"win-bridge\",\"policies\":[" + policies + "]}";
  }

  private Backend exact(String text) throws IOException {
    return new CniBackend(node().put("a.conf", text), false);
  }

  @Test
  void nothingIsWrittenWhenOnlyTheOrderDiffers() throws Exception {
    Backend backend = exact(conf("[\"10.0.0.0/8\",\"172.16.0.0/12\",\"10.0.0.0/8\"]"));
    assertTrue(Node.plan(backend, Node.exempt(IPV4, "172.16.0.0/12", "10.0.0.0/8")).isEmpty());
  }

  @Test
  void exceptionsAreCarvedOut() throws Exception {
    Backend backend = exact(conf("[]"));
    Policy policy =
        new Policy(
            IPV4,
            List.of(),
            List.of(),
            List.of(
                new Destination(Cidr.of("10.128.0.0/9"), Treatment.TRANSLATE),
                new Destination(Cidr.of("10.0.0.0/8"), Treatment.EXEMPT)),
            new Translation(Optional.empty(), List.of(), true));
    assertEquals(APPLIED, Node.enforce(backend, policy));
    assertEquals(conf("[\"10.0.0.0/9\"]"), node().text("a.conf"));
    assertTrue(Node.plan(backend, policy).isEmpty());
  }

  @Test
  void whatAListCannotSayIsRefused() throws Exception {
    String text = conf("[\"10.0.0.0/8\"]");
    Backend backend = exact(text);
    Policy plain = Node.exempt(IPV4, "10.0.0.0/8");
    Policy rich =
        new Policy(
            IPV4,
            List.of(Cidr.of("10.4.0.0/16")),
            List.of("eth0"),
            plain.destinations(),
            new Translation(
                Optional.of(new IpRange(Ip.of("192.0.2.1"), Ip.of("192.0.2.2"))),
                List.of(new PortRange(1024, 2000)),
                true));
    assertEquals(
        "an OutBoundNAT policy cannot hold sourceCIDRs, output interfaces, an output address,"
            + " --to-ports",
        Node.refused(Node.enforce(backend, rich)).message());
    assertEquals(text, node().text("a.conf"));
  }

  @Test
  void entriesThatAreNoCidrAreMendedAndNamed() throws Exception {
    Backend backend =
        exact(conf("[\"10.0.0.0/8\",\"10.1.2.3\",\"10.1.2.3/8\",\"10.0.0.0/08\",7,null]"));
    Plan plan = Node.plan(backend, Node.exempt(IPV4, "10.0.0.0/8"));
    String at = "~" + directory.resolve("a.conf").toRealPath() + ":1:105 has an entry that is no ";
    assertEquals(
        List.of(
            at + "CIDR: \"10.1.2.3\"",
            at + "CIDR: \"10.1.2.3/8\"",
            at + "CIDR: \"10.0.0.0/08\"",
            at + "CIDR: 7",
            at + "CIDR: null"),
        Node.changes(plan));
    assertEquals(APPLIED, backend.apply(plan));
    assertEquals(conf("[\"10.0.0.0/8\"]"), node().text("a.conf"));
  }

  @Test
  void spellingOfWhatStaysStays() throws Exception {
    Backend backend = exact(conf("[\"10.0.0.0\\/8\",\"11.0.0.0/8\"]"));
    Node.enforce(backend, Node.exempt(IPV4, "10.0.0.0/8", "12.0.0.0/8"));
    assertEquals(conf("[\"10.0.0.0\\/8\",\"12.0.0.0/8\"]"), node().text("a.conf"));
  }

  @Test
  void loopbackPoliciesAreNoneOfOurs() throws Exception {
    String text =
        """
        {"policies":[{"value":{"type":"OUTBOUNDNAT","destinations":["10.0.0.2"]}},
         {"value":{"Type":"OutBoundNAT","Settings":{"Destinations":["10.0.0.2"]}}}]}
        """;
    Backend backend = exact(text);
    assertEquals(
        "there is no OutBoundNAT policy in " + directory.resolve("a.conf"),
        Node.refused(Node.enforce(backend, Node.exempt(IPV4, "10.0.0.0/8"))).message());
    assertEquals(text, node().text("a.conf"));
  }

  @Test
  void eachFamilyHasItsList() throws Exception {
    CniBackend backend = new CniBackend(node().put("sdnbridge-dual-stack.conf"), false);
    assertEquals(List.of("fd00:4::/48"), Node.ranges(backend, IPV6));
    assertEquals(List.of(), Node.observe(backend, IPV6).remarks());
    Plan v4 = Node.plan(backend, Node.exempt(IPV4, "10.0.0.0/8", "11.0.0.0/8", "12.0.0.0/8"));
    Plan v6 = Node.plan(backend, Node.exempt(IPV6, "fe80::/10", "fd00:4::/48"));
    assertEquals(APPLIED, backend.apply(v4));
    assertEquals(APPLIED, backend.apply(v6)); // what happened to IPv4 is no race
    String text = node().text("sdnbridge-dual-stack.conf");
    assertTrue(text.contains("[ \"10.0.0.0/8\", \"11.0.0.0/8\", \"12.0.0.0/8\" ]"), text);
    assertTrue(text.contains("[ \"fe80::/10\", \"FD00:4::/48\" ]"), text);
    Node.cleanup(backend, IPV4);
    Node.cleanup(backend, IPV6);
    assertEquals(
        new String(Node.resource("sdnbridge-dual-stack.conf"), "UTF-8"),
        node().text("sdnbridge-dual-stack.conf"));
    assertEquals(List.of("sdnbridge-dual-stack.conf"), node().names());
  }

  @Test
  void anEmptiedListKeepsItsFamily() throws Exception {
    Backend backend = exact(conf("[\"10.0.0.0/8\"]", "[\"fd00::/8\"]"));
    Node.enforce(backend, Node.exempt(IPV6));
    Node.enforce(backend, Node.exempt(IPV4));
    assertEquals(conf("[]", "[]"), node().text("a.conf"));
    Node.enforce(backend, Node.exempt(IPV6, "fd01::/16"));
    Node.enforce(backend, Node.exempt(IPV4, "11.0.0.0/8"));
    assertEquals(conf("[\"11.0.0.0/8\"]", "[\"fd01::/16\"]"), node().text("a.conf"));
  }

  @Test
  void aMixedListKeepsWhatIsOfTheOtherFamily() throws Exception {
    Backend backend = exact(conf("[\"fd00::/8\",\"10.0.0.0/8\"]"));
    Node.enforce(backend, Node.exempt(IPV4, "11.0.0.0/8"));
    assertEquals(conf("[\"11.0.0.0/8\",\"fd00::/8\"]"), node().text("a.conf"));
    Node.enforce(backend, Node.exempt(IPV6, "fd01::/16"));
    assertEquals(conf("[\"11.0.0.0/8\",\"fd01::/16\"]"), node().text("a.conf"));
  }

  @Test
  void ipv6IsLeftAloneWhereNoPolicyIsForIt() throws Exception {
    String text = conf("[\"10.0.0.0/8\"]");
    CniBackend backend = new CniBackend(node().put("a.conf", text), false);
    assertTrue(Node.plan(backend, Node.exempt(IPV6, "fd00::/8")).isEmpty());
    Policy observed = Node.observe(backend, IPV6).policy().orElseThrow();
    assertFalse(observed.verdictFor(Packet.to(Ip.of("2001:db8::1"))).translated());
    assertEquals(1, Node.observe(backend, IPV6).remarks().size());
    assertEquals(APPLIED, Node.cleanup(backend, IPV6));
    assertEquals(text, node().text("a.conf"));
  }

  @Test
  void aBrokenFileIsAnErrorWithItsPlaceAndIsLeftAlone() throws Exception {
    String text = "{\n  \"policies\": [\n    {,}\n  ]\n}\n";
    Backend backend = exact(text);
    assertEquals(
        directory.resolve("a.conf").toRealPath() + ":3:6: expected a key in quotes, found ','",
        Node.unseen(backend, IPV4).message());
    assertEquals(text, node().text("a.conf"));
    assertEquals(List.of("a.conf"), node().names());
  }

  @Test
  void twoKeysOfOneNameAreAnErrorOnlyWhereTheyMatter() throws Exception {
    Backend one = exact("{\"note\":1,\"note\":2,\"policies\":[],\"x\":{\"value\":1,\"value\":2}}");
    assertTrue(Node.observe(one, IPV4).policy().isEmpty());
    Backend two = exact("{\"policies\":[],\n\"Policies\":[]}");
    assertTrue(
        Node.unseen(two, IPV4)
            .message()
            .endsWith("a.conf:2:1: the key \"Policies\" appears a second time"));
  }

  @Test
  void aMissingFileIsAnError() {
    Path file = directory.resolve("none.conf");
    assertEquals(
        "there is no CNI config at " + file,
        Node.unseen(new CniBackend(file, false), IPV4).message());
  }

  @Test
  void whoeverWritesInBetweenIsNotOverwritten() throws Exception {
    Backend backend = exact(conf("[\"10.0.0.0/8\"]"));
    Plan plan = Node.plan(backend, Node.exempt(IPV4, "11.0.0.0/8"));
    node().put("a.conf", conf("[\"10.0.0.0/8\",\"12.0.0.0/8\"]"));
    assertInstanceOf(Outcome.Retry.class, backend.apply(plan));
    assertEquals(conf("[\"10.0.0.0/8\",\"12.0.0.0/8\"]"), node().text("a.conf"));
  }

  @Test
  void otherChangesInBetweenStay() throws Exception {
    Backend backend =
        exact("{\"mtu\":1,\"policies\":[{\"Type\":\"OutBoundNAT\",\"Exceptions\":[]}]}");
    Plan plan = Node.plan(backend, Node.exempt(IPV4, "11.0.0.0/8"));
    node().put("a.conf", node().text("a.conf").replace("\"mtu\":1,", "\"mtu\":1500,"));
    assertEquals(APPLIED, backend.apply(plan));
    assertEquals(
        "{\"mtu\":1500,\"policies\":[{\"Type\":\"OutBoundNAT\",\"Exceptions\":[\"11.0.0.0/8\"]}]}",
        node().text("a.conf"));
  }

  @Test
  void modeAndLinkStayAndTheBackupIsMadeOnce() throws Exception {
    Path real = node().put("real.conf", conf("[\"10.0.0.0/8\"]"));
    Files.setPosixFilePermissions(real, PosixFilePermissions.fromString("rw-r----x"));
    Path link = Files.createSymbolicLink(directory.resolve("link.conf"), real);
    Backend backend = new CniBackend(link, false);
    Node.enforce(backend, Node.exempt(IPV4, "11.0.0.0/8"));
    Node.enforce(backend, Node.exempt(IPV4, "12.0.0.0/8"));
    assertTrue(Files.isSymbolicLink(link));
    assertEquals(conf("[\"12.0.0.0/8\"]"), node().text("real.conf"));
    assertEquals(conf("[\"10.0.0.0/8\"]"), node().text("real.conf.ip-masq-agent.bak"));
    assertEquals(
        List.of(
            "link.conf", "real.conf", "real.conf.ip-masq-agent.bak", "real.conf.ip-masq-agent.own"),
        node().names());
    for (String name : node().names()) {
      assertEquals(
          "rw-r----x",
          PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve(name))));
    }
  }
}
