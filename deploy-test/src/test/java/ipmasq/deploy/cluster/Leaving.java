package ipmasq.deploy.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.deploy.Project;

/** Updates, uninstall, and the way from another agent and back. */
record Leaving(Operator operator, String mode) {
  void rollingUpdate() throws Exception {
    operator.say("A rolling update, and then every agent killed at once:");
    operator.underTraffic(
        () -> {
          operator.type("kubectl -n kube-system rollout restart daemonset/ip-masq-agent");
          operator.rolledOut();
          operator.type(
              "kubectl -n kube-system delete pods -l k8s-app=ip-masq-agent --grace-period=0 --force 2>/dev/null");
          operator.rolledOut();
        });
  }

  void uninstall() throws Exception {
    var nodes = operator.cluster().nodes();
    operator.say("Uninstall, while the kubelet of n2 is dead again. It waits for that node:");
    operator.whileDead(
        nodes.getLast(),
        () -> {
          operator.untilNode("n2", "NotReady");
          operator.plugin(1, "uninstall --yes");
          assertFalse(hasRules(nodes.getFirst()), "rules are left on n1");
          assertTrue(hasRules(nodes.getLast()), "n2 is not cleaned yet");
        });
    operator.say("And when it is back:");
    operator.untilNode("n2", "Ready");
    operator.plugin("uninstall --yes --configmaps");
    for (var node : nodes) {
      assertFalse(hasRules(node), "rules are left on " + node.name());
    }
    operator.masqueraded(Operator.MASQUERADED, false);
    operator.until("test -z \"$(kubectl -n kube-system get daemonsets,pods -o name)\"");
    operator.say(
        "No rule of the agent is left on any node: packets to `8.8.8.8` arrive with pod addresses.");
  }

  /** Rules in iptables or in a table of our own. */
  private boolean hasRules(ClusterNode node) throws Exception {
    var rules =
        Cluster.must(
            operator
                .cluster()
                .on(node)
                .quietly("iptables-save -t nat; ip6tables-save -t nat; nft list ruleset"));
    return rules.contains("ip-masq-agent");
  }

  /** From the Go agent and back, as in docs/migrating.md. */
  void migrate() throws Exception {
    var peer = System.getProperty("ipmasq.cluster.peer", "");
    operator.say(
        peer.isEmpty()
            ? """
              From the Go agent and back, as in [migrating](migrating.md). In its place runs a DaemonSet
              of the same name that writes the Go agent's rules, word for word; its own program was not
              at hand. Pods send packets all the time. A dry run first:"""
            : """
              From the Go agent and back, as in [migrating](migrating.md). Pods send packets all the
              time. A dry run first:""");
    var upstream = Project.text("deploy-test/src/test/resources/go-agent.yaml");
    if (!peer.isEmpty()) {
      upstream = upstream.replaceFirst("(?s) +command:.*", peerProgram(peer));
    }
    var file = operator.file("go-agent.yaml", upstream);
    operator.must("kubectl create -f " + file);
    operator.must("kubectl -n kube-system rollout status daemonset/ip-masq-agent --timeout=180s");
    operator.masqueraded(Operator.MASQUERADED, true);
    operator.masqueraded(Operator.EXEMPT, false);
    operator.underTraffic(
        () -> {
          dryRun(!peer.isEmpty());
          operator.say("Then the real one:");
          operator.type(
              "kubectl -n kube-system get daemonset ip-masq-agent -o yaml | grep -v '^  resourceVersion:'"
                  + " > deploy-test/target/before.yaml");
          operator.type("kubectl replace -f ip-masq-agent.yaml");
          operator.rolledOut();
          operator.plugin("status");
          for (var node : operator.cluster().nodes()) {
            var rules = operator.cluster().on(node).quietly("iptables -t nat -S POSTROUTING");
            long jumps = rules.text().lines().filter(l -> l.contains("ip-masq-agent:")).count();
            assertEquals(mode.equals("nftables") ? 0 : 1, jumps, rules.text());
          }
          operator.say("And back:");
          if (mode.equals("nftables")) {
            operator.type(
                "kubectl -n kube-system patch daemonset ip-masq-agent --type=json -p"
                    + " '[{\"op\":\"add\",\"path\":\"/spec/template/spec/containers/0/args/-\","
                    + "\"value\":\"--backend=iptables\"}]'");
            operator.rolledOut();
          }
          operator.type("kubectl replace -f deploy-test/target/before.yaml");
          operator.rolledOut();
        });
    for (var node : operator.cluster().nodes()) {
      var tables = Cluster.must(operator.cluster().on(node).quietly("nft list tables"));
      assertFalse(tables.contains("ip-masq-agent"), tables);
    }
  }

  /** The Go agent's own program, found on the machine by every node. */
  private static String peerProgram(String peer) {
    return """
                command: ["%s", "--masq-chain=IP-MASQ-AGENT"]
                volumeMounts: [{name: peer, mountPath: %1$s, readOnly: true}]
            volumes: [{name: peer, hostPath: {path: %1$s, type: File}}]
      """
        .formatted(peer);
  }

  /** Beside the other agent: it writes nothing and says what would change. */
  private void dryRun(boolean besideThePeer) throws Exception {
    operator.type("kubectl apply -k deploy/overlays/dry-run");
    operator.must(
        "kubectl -n kube-system rollout status daemonset/ip-masq-agent-dry-run --timeout=180s");
    if (besideThePeer && mode.equals("iptables")) {
      operator.say("Nothing would change, and nothing is logged: the rules are the same.");
    } else {
      whatWouldChange();
    }
    var status =
        operator.type(
            "kubectl -n kube-system exec daemonset/ip-masq-agent-dry-run -- ip-masq-agent status"
                + " | head -n 1");
    assertTrue(status.startsWith("Dry run: "), status);
    operator.type("kubectl delete -k deploy/overlays/dry-run");
  }

  private void whatWouldChange() throws Exception {
    var logs =
        operator.type(
            "kubectl -n kube-system logs -l k8s-app=ip-masq-agent-dry-run --prefix"
                + " | grep 'rules .*would'");
    assertEquals(2, logs.lines().filter(line -> line.contains("rules would change")).count(), logs);
    operator.say(
        mode.equals("nftables")
            ? "Every range is new, because this agent would use nftables here, as kube-proxy does."
            : "One range is new; everything else stays as it is.");
  }
}
