package ipmasq.evidence.neighbours;

import ipmasq.net.Cidr;
import java.util.List;
import java.util.regex.Pattern;

/** The owner of a rule, judged by its chains and comments, and what to do about the rule. */
public enum Owner {
  AGENT(
      "ip-masq-agent",
      "an agent of another name, version or kind of iptables left it, or still runs: stop that"
          + " agent, then ip-masq-agent cleanup removes what it left"),
  AWS(
      "the AWS VPC CNI",
      "set AWS_VPC_K8S_CNI_EXTERNALSNAT=true in its DaemonSet, which leaves masquerading to this"
          + " agent"),
  KUBELET(
      "the kubelet (--non-masquerade-cidr)",
      "start the kubelet with --non-masquerade-cidr=0.0.0.0/0, which leaves masquerading to this"
          + " agent"),
  FLANNEL("flannel", "start flanneld without --ip-masq, which leaves masquerading to this agent"),
  DOCKER(
      "Docker",
      "harmless where no pod lives on Docker's networks; else start dockerd with --ip-masq=false"),
  CALICO(
      "Calico",
      "set natOutgoing: false in its IPPools, or give the ranges an IPPool that is disabled so that"
          + " it exempts them too"),
  CNI(
      "a CNI plugin (ipMasq)",
      "set ipMasq to false in the CNI config; rules of pods that run stay until the pods end"),
  KUBE_PROXY(
      "kube-proxy",
      "kube-proxy masquerades what it marked; with --masquerade-all or --cluster-cidr it marks more"),
  LIBVIRT("libvirt", "harmless where no pod lives on libvirt's networks"),
  PODMAN("podman", "harmless where no pod lives on podman's networks"),
  CILIUM("Cilium", "set enable-ipv4-masquerade: false, or use Cilium's own ip-masq-agent instead"),
  OTHER(
      "another program",
      "find out who writes this rule, and have it leave out the ranges that the config exempts");

  private final String title;
  private final String advice;

  Owner(String title, String advice) {
    this.title = title;
    this.advice = advice;
  }

  public String title() {
    return title;
  }

  public String advice() {
    return advice;
  }

  /** The networks that it gives its containers or guests unless told otherwise. */
  List<Cidr> usualNetworks() {
    return switch (this) {
      case DOCKER -> List.of(Cidr.of("172.16.0.0/12"), Cidr.of("192.168.0.0/16"));
      case LIBVIRT -> List.of(Cidr.of("192.168.0.0/16"));
      case PODMAN -> List.of(Cidr.of("10.88.0.0/15"));
      default -> List.of();
    };
  }

  /** Whether its rules concern its own networks, not pods. */
  boolean elsewhere() {
    return this == DOCKER || this == LIBVIRT || this == PODMAN;
  }

  /** Docker's default bridge, its swarm's, and those of its networks. */
  private static final Pattern DOCKER_BRIDGE =
      Pattern.compile("[ \"](docker0|docker_gwbridge|br-[0-9a-f]{12})\\b");

  private static final Pattern COMMENT = Pattern.compile("comment \"[^\"]*\"|--comment \\S+");

  /** The owner of a rule with this text, in a base chain of this name. */
  static Owner of(String where, String text) {
    if (text.contains("ip-masq-agent: ") || text.contains("IP-MASQ")) {
      return AGENT;
    }
    if (text.contains("AWS-SNAT-CHAIN") || text.contains("AWS SNAT CHAIN")) {
      return AWS;
    }
    if (text.contains("kubenet: SNAT") || text.contains("kubenet:")) {
      return KUBELET;
    }
    if (text.contains("FLANNEL") || text.contains("flanneld") || where.contains("flannel")) {
      return FLANNEL;
    }
    if (text.contains("KUBE-") || where.contains("kube-proxy")) {
      return KUBE_PROXY;
    }
    if (text.contains("cali-") || text.contains("cali:") || where.contains("calico")) {
      return CALICO;
    }
    if (text.contains("CILIUM")) {
      return CILIUM;
    }
    if (text.contains("-A CNI-") || where.contains("cni_plugins")) {
      return CNI;
    }
    String matches = COMMENT.matcher(text).replaceAll(""); // a comment may mention anybody
    if (matches.contains("-A DOCKER")
        || where.contains("docker")
        || DOCKER_BRIDGE.matcher(matches).find()) {
      return DOCKER;
    }
    if (matches.contains("LIBVIRT") || matches.contains("virbr") || where.contains("libvirt")) {
      return LIBVIRT;
    }
    if (matches.contains("NETAVARK") || where.contains("netavark")) {
      return PODMAN;
    }
    return OTHER;
  }
}
