package ipmasq.config;

import ipmasq.net.Cidr;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import java.time.Duration;
import java.util.List;

/** Everything that the file and the flags decide, every value valid. */
public record Config(
    List<Cidr> nonMasqueradeCidrs,
    List<Cidr> masqueradeCidrs,
    List<Cidr> sourceCidrs,
    List<String> outputInterfaces,
    List<IpRange> outputAddresses,
    boolean masqLinkLocal,
    boolean masqLinkLocalIpv6,
    Duration resyncInterval,
    boolean enableIpv6,
    boolean randomFully,
    List<PortRange> toPorts,
    String masqChain,
    BackendChoice backend) {

  /** Which program of the kernel to write. */
  public enum BackendChoice {
    AUTO,
    IPTABLES,
    NFTABLES,
    CNI
  }

  public Config {
    nonMasqueradeCidrs = List.copyOf(nonMasqueradeCidrs);
    masqueradeCidrs = List.copyOf(masqueradeCidrs);
    sourceCidrs = List.copyOf(sourceCidrs);
    outputInterfaces = List.copyOf(outputInterfaces);
    outputAddresses = List.copyOf(outputAddresses);
    toPorts = List.copyOf(toPorts);
  }
}
