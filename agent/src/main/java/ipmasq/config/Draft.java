package ipmasq.config;

import ipmasq.config.Config.BackendChoice;
import ipmasq.config.Config.Conntrack;
import ipmasq.net.Cidr;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import java.time.Duration;
import java.util.List;

/** A config in the making: flags and files each change what they name. Owned by one thread. */
public final class Draft {
  private List<Cidr> nonMasqueradeCidrs;
  private List<Cidr> masqueradeCidrs;
  private List<Cidr> sourceCidrs;
  private List<String> outputInterfaces;
  private List<IpRange> outputAddresses;
  private boolean masqLinkLocal;
  private boolean masqLinkLocalIpv6;
  private Duration resyncInterval;
  private boolean enableIpv6;
  private boolean randomFully;
  private List<PortRange> toPorts;
  private String masqChain;
  private BackendChoice backend;
  private Conntrack conntrack;
  private boolean pin;

  Draft(Config config) {
    nonMasqueradeCidrs = config.nonMasqueradeCidrs();
    masqueradeCidrs = config.masqueradeCidrs();
    sourceCidrs = config.sourceCidrs();
    outputInterfaces = config.outputInterfaces();
    outputAddresses = config.outputAddresses();
    masqLinkLocal = config.masqLinkLocal();
    masqLinkLocalIpv6 = config.masqLinkLocalIpv6();
    resyncInterval = config.resyncInterval();
    enableIpv6 = config.enableIpv6();
    randomFully = config.randomFully();
    toPorts = config.toPorts();
    masqChain = config.masqChain();
    backend = config.backend();
    conntrack = config.conntrack();
    pin = config.pin();
  }

  /** The config as it stands. */
  public Config config() {
    return new Config(
        nonMasqueradeCidrs,
        masqueradeCidrs,
        sourceCidrs,
        outputInterfaces,
        outputAddresses,
        masqLinkLocal,
        masqLinkLocalIpv6,
        resyncInterval,
        enableIpv6,
        randomFully,
        toPorts,
        masqChain,
        backend,
        conntrack,
        pin);
  }

  public Draft nonMasqueradeCidrs(List<Cidr> value) {
    nonMasqueradeCidrs = value;
    return this;
  }

  public Draft masqueradeCidrs(List<Cidr> value) {
    masqueradeCidrs = value;
    return this;
  }

  public Draft sourceCidrs(List<Cidr> value) {
    sourceCidrs = value;
    return this;
  }

  public Draft outputInterfaces(List<String> value) {
    outputInterfaces = value;
    return this;
  }

  public Draft outputAddresses(List<IpRange> value) {
    outputAddresses = value;
    return this;
  }

  public Draft masqLinkLocal(boolean value) {
    masqLinkLocal = value;
    return this;
  }

  public Draft masqLinkLocalIpv6(boolean value) {
    masqLinkLocalIpv6 = value;
    return this;
  }

  public Draft resyncInterval(Duration value) {
    resyncInterval = value;
    return this;
  }

  public Draft enableIpv6(boolean value) {
    enableIpv6 = value;
    return this;
  }

  public Draft randomFully(boolean value) {
    randomFully = value;
    return this;
  }

  public Draft toPorts(List<PortRange> value) {
    toPorts = value;
    return this;
  }

  public Draft masqChain(String value) {
    masqChain = value;
    return this;
  }

  public Draft backend(BackendChoice value) {
    backend = value;
    return this;
  }

  public Draft conntrack(Conntrack value) {
    conntrack = value;
    return this;
  }

  public Draft pin(boolean value) {
    pin = value;
    return this;
  }
}
