package ipmasq.deploy.cluster;

/** The roles that are shipped, given to the viewer and to the operator as their files say. */
final class Roles {
  static final String BOUND =
      """
      set -e
      kubectl create -f deploy/rbac/viewer.yaml -f deploy/rbac/operator.yaml
      for group in viewers operators; do
        kubectl -n kube-system create rolebinding $group --role=ip-masq-agent-viewer --group=$group
        kubectl create clusterrolebinding $group --clusterrole=ip-masq-agent-viewer --group=$group
      done
      kubectl -n kube-system create rolebinding operator --role=ip-masq-agent-operator --group=operators
      """;

  private Roles() {}
}
