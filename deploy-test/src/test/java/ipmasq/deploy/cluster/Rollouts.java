package ipmasq.deploy.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.testkit.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** Configs on their way to the nodes, and back. */
record Rollouts(Operator operator) {
  private static final int MIN_READY = 5;

  /** Node by node under traffic; while the first one is held, somebody replaces another's pod. */
  void apply() throws Exception {
    operator.say(
        """
        `203.0.113.0/24` is to see pod addresses. First a file with a mistake, then a good one. (The
        test has set `minReadySeconds` to 5, not to wait for half a minute at each node.)""");
    minReady(MIN_READY);
    var bad = operator.config("my-config", "10.0.0.0/8", "203.0.113.1/24");
    operator.type("cat " + bad);
    operator.plugin(1, "apply %s --yes".formatted(bad));
    var good = operator.config("my-config", "10.0.0.0/8", "203.0.113.0/24");
    operator.type("cat " + good);
    owned(good);
    operator.underTraffic(() -> operator.plugin("apply %s --yes --canary=n1".formatted(good)));
    operator.masqueraded(Operator.SOMETIMES, false);
    operator.say("Packets to `203.0.113.9` now arrive with the pods' addresses. And back:");
    operator.underTraffic(() -> operator.plugin("rollback --yes"));
    operator.masqueraded(Operator.SOMETIMES, true);
    operator.plugin("status");
    operator.plugin("history");
  }

  /** What another program applied is its own, whoever else wrote the same. */
  private void owned(String good) throws Exception {
    operator.say("While Argo CD manages the mounted name, nothing is written:");
    var name = "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: ip-masq-agent}%s}%n";
    var volume =
        ", spec: {template: {spec: {volumes: [{name: config, configMap: {name: %s}}]}}}"
            .formatted(operator.mounted());
    var apply =
        "kubectl -n kube-system apply --server-side --force-conflicts"
            + " --field-manager=argocd-controller -f ";
    operator.must(apply + operator.file("owned.yaml", name.formatted(volume)));
    operator.plugin(1, "apply %s --yes".formatted(good));
    operator.must(apply + operator.file("owned.yaml", name.formatted("")));
    operator.say("Then without it:");
  }

  private void minReady(int seconds) throws Exception {
    operator.must(
        "kubectl -n kube-system patch daemonset ip-masq-agent -p '{\"spec\":{\"minReadySeconds\":%d}}'"
            .formatted(seconds));
  }

  /** Two at once, of which one is told; and a pod of the other node is replaced meanwhile. */
  void twoAtOnce() throws Exception {
    var files =
        List.of(
            operator.config("one-config", "10.0.0.0/8", "203.0.113.0/24"),
            operator.config("other-config", "10.0.0.0/8", "203.0.113.0/25"));
    var said =
        files.parallelStream()
            .map(
                file ->
                    unchecked(() -> operator.quietly("apply %s --yes --canary=n1".formatted(file))))
            .toList();
    var replaced =
        said.stream().filter(s -> s.text().contains("got the config ip-masq-agent-")).toList();
    assertEquals(1, replaced.size(), said::toString);
    assertEquals(1, said.stream().filter(s -> s.exit() == 0).count(), said::toString);
    operator.underTraffic(
        () -> {
          var pod =
              "kubectl -n kube-system get pods -l k8s-app=ip-masq-agent -o name"
                  + " --field-selector spec.nodeName=n2";
          var replacing =
              Thread.ofPlatform()
                  .start(
                      () ->
                          unchecked(
                              () -> {
                                operator.until("kubectl ip-masq status | grep -q held");
                                return operator.must(
                                    "kubectl -n kube-system delete $(" + pod + ")");
                              }));
          var back = operator.config("my-config", "10.0.0.0/8");
          var applied = operator.quietly("apply %s --yes --canary=n1".formatted(back));
          replacing.join();
          assertTrue(applied.text().contains("2 of 2 nodes have "), applied.text());
        });
    operator.say(
        """
        Two applies at once: one is told that the other was faster. And an apply during which the
        other node's pod is replaced: it ends when both nodes have the config.""");
    operator.masqueraded(Operator.SOMETIMES, true);
  }

  /** Something that does not declare what it throws. */
  private interface Asked<T> {
    T ask() throws Exception;
  }

  private static <T> T unchecked(Asked<T> asked) {
    try {
      return asked.ask();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** A config that no agent has checked, as a pipeline may write it; then the power fails. */
  void stopped(boolean outage) throws Exception {
    operator.say(
        """
        A pipeline mounts a config that no agent has checked. The first node refuses it and keeps its
        rules, and the other never sees it:""");
    var before = operator.mounted();
    operator.underTraffic(
        () -> {
          var bad = operator.config("bad-config", "10.0.0.0/33");
          operator.type(
              "kubectl -n kube-system create configmap ip-masq-agent-bad --from-file=config="
                  + bad);
          operator.type(
              "kubectl -n kube-system patch daemonset ip-masq-agent --type=json -p '[{\"op\":\"replace\","
                  + "\"path\":\"/spec/template/spec/volumes/0/configMap/name\",\"value\":\"ip-masq-agent-bad\"}]'");
          operator.until("kubectl ip-masq status | grep 'config file is bad'");
          oneOfTwo(before);
        });
    if (outage) {
      outage();
    }
    operator.underTraffic(() -> operator.plugin("rollback --to %s --yes".formatted(before)));
    operator.type("kubectl -n kube-system delete configmap ip-masq-agent-bad");
  }

  /** Rules, pods and everything below /run are gone; the disk is left. */
  private void outage() throws Exception {
    operator.say("Now the power fails on both nodes:");
    var before = addresses().toList();
    for (var node : operator.cluster().nodes()) {
      node.reboot();
    }
    Eventually.within(
        Duration.ofSeconds(180),
        "pods with new addresses",
        () -> {
          operator.must("sleep 2");
          operator.findPods();
          return addresses();
        },
        now -> now.noneMatch(before::contains));
    operator.masqueraded(Operator.MASQUERADED, true);
    operator.masqueraded(Operator.EXEMPT, false);
    operator.say(
        """
        Both nodes have the rules of the config before. Kubernetes may have given the bad one to the
        second node too, since it replaces pods that are not ready whatever the limit: then it is the
        last good config, which the agent has on its disk.""");
  }

  /** Which node got the bad config is the controller's choice. */
  private void oneOfTwo(String config) throws Exception {
    var status = operator.plugin("status | grep 'nodes are ready'");
    assertTrue(status.contains("1 of 2 nodes are ready"), status);
    assertTrue(status.contains(config + " on 1, ip-masq-agent-bad on 1"), status);
  }

  private Stream<String> addresses() {
    return operator.pods().stream().map(Pod::address);
  }

  /** A node that answers nobody does not hold up the other, and gets the config when it is back. */
  void deadNode() throws Exception {
    operator.say("The kubelet of n2 dies. A new config does not wait for it:");
    operator.whileDead(
        operator.cluster().nodes().getLast(),
        () -> {
          operator.plugin(1, "status --deep --timeout=6");
          operator.untilNode("n2", "NotReady");
          var file = operator.config("my-config", "10.0.0.0/8", "192.168.0.0/16");
          var said = operator.plugin("apply %s --yes".formatted(file));
          assertTrue(said.contains("get it when they return: n2"), said);
        });
    operator.untilReady();
    operator.say("When it is back, it has the new config:");
    operator.plugin("status");
  }

  /** Nobody answers pods' own addresses from 198.51.100.0/24. */
  void probation() throws Exception {
    operator.say(
        """
        A config with a probation exempts `198.51.100.0/24`, which has no way back to pods. The first
        node notices, goes back to the config before, and is not ready; so the rollout stops. (With
        `minReadySeconds: 50`, as the probation is 20 s.)""");
    var probed =
        operator.file(
            "my-config",
            """
            nonMasqueradeCIDRs: [10.0.0.0/8, 192.168.0.0/16, 198.51.100.0/24]
            probation: 20s
            """);
    minReady(50);
    operator.type("cat " + probed);
    operator.underTraffic(
        List.of("203.0.113.9", "198.51.100.1", "198.51.100.2", "198.51.100.3"),
        () -> {
          // What was answered before is what the new pod finds on the disk.
          var first = operator.cluster().nodes().getFirst();
          Cluster.must(
              operator
                  .cluster()
                  .on(first)
                  .quietly(
                      "for i in $(seq 180); do grep -rqs 198.51.100.3 /var/lib/ip-masq-agent && exit;"
                          + " sleep 1; done; ls -l /var/lib/ip-masq-agent; exit 1"));
          var said =
              operator.plugin(
                  1, "apply %s --yes --canary=n1 --patience=5 --undo".formatted(probed));
          assertTrue(said.contains("1: Not ready: the config file was rolled back"), said);
          assertTrue(said.contains("2 of 2 nodes have "), said);
        });
    minReady(MIN_READY);
  }

  /** Flags that a file must be judged by, and IPv6. */
  void dualStack() throws Exception {
    operator.say("IPv6, by a flag of the DaemonSet; the file is judged by it:");
    operator.type(
        "kubectl -n kube-system patch daemonset ip-masq-agent --type=json -p '[{\"op\":\"add\","
            + "\"path\":\"/spec/template/spec/containers/0/args/-\",\"value\":\"--enable-ipv6\"},"
            + "{\"op\":\"add\",\"path\":\"/spec/template/spec/containers/0/args/-\","
            + "\"value\":\"--random-fully=false\"}]'");
    operator.rolledOut();
    operator.masqueraded("2001:db8:1::9", true);
    var file = operator.config("my-config", "10.0.0.0/8", "2001:db8:1::/48");
    operator.type("cat " + file);
    operator.underTraffic(() -> operator.plugin("apply %s --yes --canary=n2".formatted(file)));
    operator.masqueraded("2001:db8:1::9", false);
    operator.masqueraded("2001:db8::9", true);
  }
}
