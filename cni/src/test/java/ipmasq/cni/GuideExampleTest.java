package ipmasq.cni;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.backend.Backend;
import ipmasq.backend.Outcome;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.policy.Packet;
import ipmasq.policy.Policy;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example that the Kubernetes guide gives for Windows nodes. */
class GuideExampleTest {
  @TempDir Path directory;

  @Test
  void onlyTheExceptionListChanges() throws Exception {
    Node node = new Node(directory);
    Backend backend = new CniBackend(node.put("cbr0-win-bridge.conf"), false);
    Policy policy =
        Node.exempt(Family.IPV4, "169.254.0.0/16", "11.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16");
    assertEquals(
        List.of("-10.137.196.0/23", "+169.254.0.0/16", "+172.16.0.0/12"),
        Node.changes(Node.plan(backend, policy)));
    assertEquals(new Outcome.Applied(), Node.enforce(backend, policy));
    assertEquals(
        """
        {
          "name": "cbr0",
          "type": "win-bridge",
          "dns": {
            "nameservers": [
              "11.0.0.10"
            ],
            "search": [
              "svc.cluster.local"
            ]
          },
          "policies": [
            {
              "name": "EndpointPolicy",
              "value": {
                "Type": "OutBoundNAT",
                "ExceptionList": [
                  "169.254.0.0/16",
                  "11.0.0.0/8",
                  "172.16.0.0/12",
                  "192.168.0.0/16"
                ]
              }
            },
            {
              "name": "EndpointPolicy",
              "value": {
                "Type": "ROUTE",
                "DestinationPrefix": "11.0.0.0/8",
                "NeedEncap": true
              }
            },
            {
              "name": "EndpointPolicy",
              "value": {
                "Type": "ROUTE",
                "DestinationPrefix": "10.137.198.27/32",
                "NeedEncap": true
              }
            }
          ],
          "loopbackDSR": true
        }
        """,
        node.text("cbr0-win-bridge.conf"));
    assertEquals(List.of(), Node.changes(Node.plan(backend, policy)));
  }

  @Test
  void whatStandsThereCanBeExplained() throws Exception {
    Backend backend = new CniBackend(new Node(directory).put("cbr0-win-bridge.conf"), false);
    Policy policy = Node.observe(backend, Family.IPV4).policy().orElseThrow();
    assertEquals(false, policy.verdictFor(Packet.to(Ip.of("10.137.197.1"))).translated());
    assertEquals(true, policy.verdictFor(Packet.to(Ip.of("10.137.198.1"))).translated());
  }
}
