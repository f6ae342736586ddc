package ipmasq.evidence.neighbours;

import ipmasq.net.Cidr;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The owner of a rule, judged by its chains and comments, and what to do about the rule. */
public enum Owner {
  AGENT(
      "ip-masq-agent",
      "ip-masq-agent: |IP-MASQ",
      "an agent of another name, version or kind of iptables left it, or still runs: stop that"
          + " agent, then ip-masq-agent cleanup removes what it left"),
  AWS(
      "the AWS VPC CNI",
      "AWS-SNAT-CHAIN|AWS SNAT CHAIN",
      "set AWS_VPC_K8S_CNI_EXTERNALSNAT=true in its DaemonSet, which leaves masquerading to this"
          + " agent"),
  KUBELET(
      "the kubelet (--non-masquerade-cidr)",
      "kubenet:",
      "start the kubelet with --non-masquerade-cidr=0.0.0.0/0, which leaves masquerading to this"
          + " agent"),
  FLANNEL(
      "flannel",
      "FLANNEL|flanneld|^[^:]*flannel",
      "start flanneld without --ip-masq, which leaves masquerading to this agent"),
  KUBE_PROXY(
      "kube-proxy",
      "KUBE-|^[^:]*kube-proxy",
      "kube-proxy masquerades what it marked; with --masquerade-all or --cluster-cidr it marks more"),
  CALICO(
      "Calico",
      "cali-|cali:|^[^:]*calico",
      "set natOutgoing: false in its IPPools, or give the ranges an IPPool that is disabled so that"
          + " it exempts them too"),
  CILIUM(
      "Cilium",
      "CILIUM",
      "set enable-ipv4-masquerade: false, or use Cilium's own ip-masq-agent instead"),
  CNI(
      "a CNI plugin (ipMasq)",
      "-A CNI-|^[^:]*cni_plugins",
      "set ipMasq to false in the CNI config; rules of pods that run stay until the pods end"),
  /** Its default bridge, its swarm's, and those of its networks. */
  DOCKER(
      "Docker",
      "-A DOCKER|^[^:]*docker|[ \"](docker0|docker_gwbridge|br-[0-9a-f]{12})\\b",
      "harmless where no pod lives on Docker's networks; else start dockerd with --ip-masq=false"),
  LIBVIRT(
      "libvirt",
      "LIBVIRT|virbr|^[^:]*libvirt",
      "harmless where no pod lives on libvirt's networks"),
  PODMAN("podman", "NETAVARK|^[^:]*netavark", "harmless where no pod lives on podman's networks"),
  OTHER(
      "another program",
      "",
      "find out who writes this rule, and have it leave out the ranges that the config exempts");

  private static final Pattern COMMENT = Pattern.compile("comment \"[^\"]*\"|--comment \\S+");

  private final String title;
  private final Pattern marks;
  private final String advice;

  /**
   * @param marks what tells its rules, in {@code where: text}
   */
  Owner(String title, String marks, String advice) {
    this.title = title;
    this.marks = Pattern.compile(marks);
    this.advice = advice;
  }

  public String title() {
    return title;
  }

  public String advice() {
    return advice;
  }

  /**
   * What a runtime gives its containers or guests unless told otherwise: its rules concern those,
   * not pods.
   */
  List<Cidr> usualNetworks() {
    return switch (this) {
      case DOCKER -> List.of(Cidr.of("172.16.0.0/12"), Cidr.of("192.168.0.0/16"));
      case LIBVIRT -> List.of(Cidr.of("192.168.0.0/16"));
      case PODMAN -> List.of(Cidr.of("10.88.0.0/15"));
      default -> List.of();
    };
  }

  /** The owner of a rule with this text, in a base chain of this name. */
  static Owner of(String where, String text) {
    String all = where + ": " + text;
    String matches = COMMENT.matcher(all).replaceAll(""); // a comment may mention any runtime
    return Stream.of(values())
        .filter(it -> it.marks.matcher(it.usualNetworks().isEmpty() ? all : matches).find())
        .findFirst()
        .orElse(OTHER);
  }
}
