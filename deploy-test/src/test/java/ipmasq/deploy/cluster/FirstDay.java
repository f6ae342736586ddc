package ipmasq.deploy.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.marcnuri.helm.Helm;
import ipmasq.deploy.Project;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;

/** The README's commands, every manifest, and what the plugin's read-only commands say. */
record FirstDay(Operator operator) {
  void manifests() throws Exception {
    operator.say(
        """
        The API server accepts every manifest, in a dry run that creates nothing. It was also asked
        about every component on top of the base, and about the chart with several values.""");
    operator.type(
        "for overlay in deploy/overlays/*; do"
            + " echo \"$overlay: $(kubectl create --dry-run=server -k $overlay)\"; done");
    for (var file : List.of("cleanup/ip-masq-agent-cleanup", "windows/ip-masq-agent-windows")) {
      operator.type("kubectl create --dry-run=server -f deploy/" + file + ".yaml");
    }
    try (var components = Files.list(Project.file("deploy/components"))) {
      for (var component : components.filter(c -> !isStaged(c.toString())).sorted().toList()) {
        operator.file(
            "component/kustomization.yaml",
            """
            resources: [../../../deploy/base]
            components: [../../../deploy/components/%s]
            """
                .formatted(component.getFileName()));
        operator.must("kubectl create --dry-run=server -k deploy-test/target/component");
      }
    }
    for (var values :
        List.of(
            Map.<String, String>of(),
            Map.of("backend", "nftables", "enableIPv6", "true"),
            Map.of("staged.enabled", "true", "config.nonMasqueradeCIDRs[0]", "10.0.0.0/8"),
            Map.of("listen.scope", "cluster", "prometheusAnnotations", "true"))) {
      var chart = new Helm(Project.file("deploy/helm/ip-masq-agent")).template();
      values.forEach(chart.withNamespace("kube-system")::set);
      var path = operator.file("chart.yaml", chart.call());
      operator.must("kubectl create --dry-run=server -f " + path);
    }
  }

  /** These need a ConfigMap of the user's; the overlay has one. */
  private static boolean isStaged(String component) {
    return component.contains("staged");
  }

  void install(String version) throws Exception {
    operator.say(
        """
        The README's commands. The first is for every node (`ctr` shows the hyphens of a name as
        blanks):""");
    var nodes = operator.cluster().nodes();
    var image = "ctr -n k8s.io images import dist/ip-masq-agent-" + version + ".oci.tar";
    operator.cluster().on(nodes.getFirst()).type(image);
    Cluster.must(operator.cluster().on(nodes.getLast()).quietly(image));
    operator.type("kubectl create -f ip-masq-agent.yaml");
    operator.type(
        "kubectl create configmap ip-masq-agent --from-file=agent-config --namespace=kube-system");
    operator.rolledOut();
    var status = "kubectl -n kube-system exec daemonset/ip-masq-agent -- ip-masq-agent status";
    operator.until(status); // a busy machine may be too slow for the first answer
    operator.type(status);
    var warnings =
        operator.must(
            "kubectl get events -A --field-selector type=Warning --no-headers"
                + " | grep ip-masq-agent | grep -v 'Startup probe failed'; true");
    assertEquals("", warnings, "what an operator would see in red");
  }

  /** With the viewer's role. */
  void look() throws Exception {
    operator.say("The state of all nodes, and what happens to a pod's packets:");
    operator.plugin("status");
    var pod = operator.pods().getFirst().name();
    var addresses = Operator.MASQUERADED + " " + Operator.EXEMPT;
    var explained = operator.plugin("explain " + pod + " " + addresses);
    assertTrue(explained.contains("masqueraded"), explained);
    operator.masqueraded(Operator.MASQUERADED, true);
    operator.masqueraded(Operator.EXEMPT, false);
    var other = operator.config("my-config", "10.0.0.0/8", "8.8.8.0/24");
    operator.plugin("check " + other);
    operator.plugin("plan " + other);
    operator.underTraffic(
        () -> {
          says(
              "plan %s --flows".formatted(other), "[1-9]\\d* of \\d+ flows on 2 nodes would leave");
          says("trace %s %s --for=5s".formatted(pod, Operator.MASQUERADED), " left as 172.30.0.1");
        });
    var refused =
        operator.cluster().terminal("viewer").quietly("kubectl ip-masq apply --yes " + other);
    assertTrue(refused.text().contains("nothing was changed"), refused.text());
    assertTrue(refused.text().contains("cannot patch resource \"daemonsets\""), refused.text());
  }

  private void says(String command, String words) throws Exception {
    var said = Cluster.must(operator.quietly(command));
    assertTrue(said.lines().anyMatch(line -> line.matches(".*" + words + ".*")), said);
  }

  /** A list too large for one ConfigMap, in small: the second one's ranges join the first's. */
  void secondConfigMap() throws Exception {
    operator.say(
        "A second ConfigMap, for lists that are too large for one"
            + " ([large lists](operations.md#large-lists)):");
    operator.file(
        "two-configmaps/kustomization.yaml",
        """
        resources: [../../../deploy/base]
        components: [../../../deploy/components/two-configmaps]
        """);
    var more = operator.config("more", "203.0.113.0/24");
    operator.type(
        "kubectl -n kube-system create configmap ip-masq-agent-more --from-file=config=" + more);
    operator.type("cat deploy-test/target/two-configmaps/kustomization.yaml");
    operator.type("kubectl replace -k deploy-test/target/two-configmaps");
    operator.rolledOut();
    operator.plugin("status");
    operator.masqueraded(Operator.SOMETIMES, false);
    operator.say("Packets to `203.0.113.9` arrive with the pods' addresses. Without it again:");
    operator.type("kubectl replace -f ip-masq-agent.yaml");
    operator.rolledOut();
    operator.type("kubectl -n kube-system delete configmap ip-masq-agent-more");
  }
}
