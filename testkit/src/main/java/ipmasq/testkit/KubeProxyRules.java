package ipmasq.testkit;

import java.util.Locale;

/** Rules in the shape of kube-proxy's, as input for {@code iptables-restore}. */
public final class KubeProxyRules {
  /** How many endpoints a service has. */
  public static final int ENDPOINTS = 3;

  private static final String BEGINNING =
      """
      -A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
      -A OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
      -A POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING
      -A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000
      -A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN
      -A KUBE-POSTROUTING -j MARK --set-xmark 0x4000/0x0
      -A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully
      """;

  private KubeProxyRules() {}

  /** The nat table of a node in a cluster with this many services: ten rules per service. */
  public static String nat(int services) {
    StringBuilder chains = new StringBuilder("*nat\n");
    chains.append(":KUBE-SERVICES - [0:0]\n:KUBE-POSTROUTING - [0:0]\n:KUBE-MARK-MASQ - [0:0]\n");
    StringBuilder rules = new StringBuilder(BEGINNING);
    for (int i = 0; i < services; i++) {
      service(chains, rules, i);
    }
    return chains.append(rules).append("COMMIT\n").toString();
  }

  /** The address of a service. */
  public static String address(int service) {
    return "10.96." + service / 250 + "." + (service % 250 + 1);
  }

  /** What kube-proxy restores, without flushing, when a service's first endpoint has moved. */
  public static String moved(int service, String to) {
    StringBuilder chain = new StringBuilder("*nat\n");
    StringBuilder rules = new StringBuilder();
    endpoint(chain, rules, service, 0, to);
    return chain.append(rules).append("COMMIT\n").toString();
  }

  private static void service(StringBuilder chains, StringBuilder rules, int i) {
    String name = "KUBE-SVC-%016X".formatted(i);
    String comment = " -m comment --comment \"ns/svc-" + i + ":http";
    chains.append(':').append(name).append(" - [0:0]\n");
    rules.append("-A KUBE-SERVICES -d ").append(address(i)).append("/32 -p tcp").append(comment);
    rules.append(" cluster IP\" -m tcp --dport 80 -j ").append(name).append('\n');
    for (int k = 0; k < ENDPOINTS; k++) {
      int number = i * ENDPOINTS + k;
      String address = "10.244." + number / 250 % 256 + "." + (number % 250 + 1);
      rules.append("-A ").append(name).append(comment).append(" -> ").append(address);
      rules.append(":8080\"").append(chance(k)).append(" -j ").append(endpointName(i, k));
      rules.append('\n');
      endpoint(chains, rules, i, k, address);
    }
  }

  private static void endpoint(
      StringBuilder chains, StringBuilder rules, int service, int k, String address) {
    String name = endpointName(service, k);
    String comment = " -m comment --comment \"ns/svc-" + service + ":http\"";
    chains.append(':').append(name).append(" - [0:0]\n");
    rules.append("-A ").append(name).append(" -s ").append(address).append("/32");
    rules.append(comment).append(" -j KUBE-MARK-MASQ\n");
    rules.append("-A ").append(name).append(" -p tcp").append(comment);
    rules.append(" -m tcp -j DNAT --to-destination ").append(address).append(":8080\n");
  }

  private static String endpointName(int service, int k) {
    return "KUBE-SEP-%013X%03d".formatted(service, k);
  }

  private static String chance(int endpoint) {
    int left = ENDPOINTS - endpoint;
    return left == 1
        ? ""
        : String.format(Locale.ROOT, " -m statistic --mode random --probability %.8f", 1.0 / left);
  }
}
