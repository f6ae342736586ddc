package ipmasq.cni;

import static ipmasq.net.Family.IPV4;
import static ipmasq.net.Family.IPV6;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.backend.Backend;
import ipmasq.backend.Outcome;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AddPolicyTest {
  private static final Outcome APPLIED = new Outcome.Applied();
  @TempDir Path directory;

  private Node node() {
    return new Node(directory);
  }

  private String added(String text) throws Exception {
    Backend backend = new CniBackend(node().put("a.conf", text), true, false);
    assertEquals(APPLIED, Node.enforce(backend, Node.exempt(IPV4, "10.0.0.0/8", "11.0.0.0/8")));
    String result = node().text("a.conf");
    assertTrue(Node.plan(backend, Node.exempt(IPV4, "10.0.0.0/8", "11.0.0.0/8")).isEmpty(), result);
    assertEquals(APPLIED, Node.cleanup(backend, IPV4));
    assertEquals(text, node().text("a.conf"));
    assertEquals(List.of("a.conf"), node().names());
    return result;
  }

  @Test
  void onlyWhenAsked() throws Exception {
    Backend backend = new CniBackend(node().put("no-policy.conf"), false, false);
    assertTrue(Node.observe(backend, IPV4).absent());
    assertEquals(
        List.of(
            "~there is no OutBoundNAT policy (it is added only with --cni-add-policy)",
            "+10.0.0.0/8",
            "+masquerade"),
        Node.changes(Node.plan(backend, Node.exempt(IPV4, "10.0.0.0/8"))));
    assertEquals(
        "--cni-add-policy lets the agent add it",
        Node.refused(Node.enforce(backend, Node.exempt(IPV4, "10.0.0.0/8"))).advice());
    assertEquals(List.of("no-policy.conf"), node().names());
  }

  @Test
  void inANewArray() throws Exception {
    assertEquals(
        """
        {
          "cniVersion": "0.3.1",
          "name": "bare",
          "type": "win-bridge",
          "ipam": {
            "type": "host-local",
            "subnet": "10.10.0.0/16"
          },
          "policies": [
            {
              "name": "EndpointPolicy",
              "value": {
                "Type": "OutBoundNAT",
                "ExceptionList": [
                  "10.0.0.0/8",
                  "11.0.0.0/8"
                ]
              }
            }
          ]
        }
        """,
        added(new String(Node.resource("no-policy.conf"), "UTF-8")));
  }

  @Test
  void amongOtherPoliciesInTheirShape() throws Exception {
    assertEquals(
        """
        {
        \t"plugins": [{
        \t\t"type": "sdnbridge",
        \t\t"AdditionalArgs": [{
        \t\t\t"Name": "EndpointPolicy",
        \t\t\t"Value": {
        \t\t\t\t"Type": "SDNRoute",
        \t\t\t\t"Settings": { "NeedEncap": true }
        \t\t\t}
        \t\t},{
        \t\t\t"Name": "EndpointPolicy",
        \t\t\t"Value": {
        \t\t\t\t"Type": "OutBoundNAT",
        \t\t\t\t"Settings": {
        \t\t\t\t\t"Exceptions": [
        \t\t\t\t\t\t"10.0.0.0/8",
        \t\t\t\t\t\t"11.0.0.0/8"
        \t\t\t\t\t]
        \t\t\t\t}
        \t\t\t}
        \t\t}]
        \t}]
        }
        """
            .replace("},{", "}, {"),
        added(
            """
            {
            \t"plugins": [{
            \t\t"type": "sdnbridge",
            \t\t"AdditionalArgs": [{
            \t\t\t"Name": "EndpointPolicy",
            \t\t\t"Value": {
            \t\t\t\t"Type": "SDNRoute",
            \t\t\t\t"Settings": { "NeedEncap": true }
            \t\t\t}
            \t\t}]
            \t}]
            }
            """));
  }

  @Test
  void onOneLineWhereAllIs() throws Exception {
    assertEquals(
        "{\"type\":\"flannel\",\"delegate\":{\"type\":\"win-bridge\",\"policies\":[{\"name\":"
            + "\"EndpointPolicy\",\"value\":{\"Type\":\"OutBoundNAT\",\"ExceptionList\":"
            + "[\"10.0.0.0/8\",\"11.0.0.0/8\"]}}]}}",
        added("{\"type\":\"flannel\",\"delegate\":{\"type\":\"win-bridge\"}}"));
  }

  @Test
  void inAnEmptyArrayAndAsHcnWantsIt() throws Exception {
    assertEquals(
        """
        {
          "type": "win-bridge",
          "apiVersion": 2,
          "HcnPolicyArgs": [
            {
              "Type": "OutBoundNAT",
              "Settings": {
                "Exceptions": [
                  "10.0.0.0/8",
                  "11.0.0.0/8"
                ]
              }
            }
          ]
        }
        """,
        added(
            """
            {
              "type": "win-bridge",
              "apiVersion": 2,
              "HcnPolicyArgs": []
            }
            """));
  }

  @Test
  void forIpv6BesideTheOtherInADualStackConfig() throws Exception {
    String text =
        "{\"type\":\"sdnbridge\",\"optionalFlags\":{\"enableDualStack\":true},\"policies\":["
            + "{\"Type\":\"OutBoundNAT\",\"Settings\":{\"Exceptions\":[\"10.0.0.0/8\"]}}]}";
    Backend backend = new CniBackend(node().put("a.conf", text), true, false);
    assertEquals(APPLIED, Node.enforce(backend, Node.exempt(IPV6, "fd00::/8")));
    assertEquals(
        text.replace(
            "]}}]}",
            "]}},{\"name\":\"EndpointPolicy\",\"value\":{\"Type\":\"OutBoundNAT\",\"Settings\":"
                + "{\"Exceptions\":[\"fd00::/8\"]}}}]}"),
        node().text("a.conf"));
    assertEquals(List.of("10.0.0.0/8"), Node.ranges(backend, IPV4));
    assertEquals(List.of("fd00::/8"), Node.ranges(backend, IPV6));
    assertEquals(APPLIED, Node.cleanup(backend, IPV4));
    assertEquals(APPLIED, Node.cleanup(backend, IPV6));
    assertEquals(text, node().text("a.conf"));
    assertEquals(List.of("a.conf"), node().names());
  }

  @Test
  void cleanupTakesOnlyThePolicyOutOfAFileThatChangedSince() throws Exception {
    Backend backend =
        new CniBackend(node().put("a.conf", "{\"mtu\":1,\"policies\":[]}"), true, false);
    Node.enforce(backend, Node.exempt(IPV4, "10.0.0.0/8"));
    node().put("a.conf", node().text("a.conf").replace("\"mtu\":1,", "\"mtu\":1500,"));
    Node.cleanup(backend, IPV4);
    assertEquals("{\"mtu\":1500,\"policies\":[]}", node().text("a.conf"));
  }

  @Test
  void ofSeveralFilesOneMustBeNamed() throws Exception {
    node().put("a.conf", "{\"type\":\"win-bridge\"}");
    node().put("b.conf", "{\"type\":\"win-bridge\"}");
    Backend backend = new CniBackend(directory, true, false);
    assertEquals(
        "name the one to add it to with --cni-config",
        Node.refused(Node.enforce(backend, Node.exempt(IPV4, "10.0.0.0/8"))).advice());
  }
}
