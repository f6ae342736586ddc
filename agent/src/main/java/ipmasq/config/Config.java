package ipmasq.config;

import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import ipmasq.policy.Policy;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** All settings of file and flags: a valid value for every {@link Key}. */
public final class Config {
  /** How many ranges a list may have if rules are walked one by one. */
  public static final int DEFAULT_CIDR_LIMIT = 64;

  /** The private ranges of RFC 1918: exempt by default. */
  public static final Cidrs PRIVATE =
      Cidrs.copyOf(
          List.of(Cidr.of("10.0.0.0/8"), Cidr.of("172.16.0.0/12"), Cidr.of("192.168.0.0/16")));

  /** All reserved ranges: the default list under {@code --nomasq-all-reserved-ranges}. */
  public static final Cidrs RESERVED =
      Cidrs.copyOf(
          List.of(
              Cidr.of("10.0.0.0/8"),
              Cidr.of("172.16.0.0/12"),
              Cidr.of("192.168.0.0/16"),
              Cidr.of("100.64.0.0/10"),
              Cidr.of("192.0.0.0/24"),
              Cidr.of("192.0.2.0/24"),
              Cidr.of("192.88.99.0/24"),
              Cidr.of("198.18.0.0/15"),
              Cidr.of("198.51.100.0/24"),
              Cidr.of("203.0.113.0/24"),
              Cidr.of("240.0.0.0/4")));

  /** Which backend holds the rules. */
  public enum BackendChoice {
    AUTO,
    IPTABLES,
    NFTABLES,
    CNI
  }

  /** Which established flows are made to follow a change of the rules. */
  public enum Conntrack {
    /** None: they keep the address they began with. */
    KEEP,
    UDP,
    ALL
  }

  private final Map<Key<?>, Object> values;

  private Config(Map<Key<?>, Object> values) {
    this.values = values;
  }

  /** The defaults without file and flags. */
  public static Config defaults() {
    Map<Key<?>, Object> values = new LinkedHashMap<>();
    for (Key<?> key : Key.ALL) {
      values.put(key, key.byDefault());
    }
    return new Config(values);
  }

  /** The value of a key. */
  @SuppressWarnings("unchecked") // with() is the only way in, and there the types fit
  public <T> T of(Key<T> key) {
    return (T) Objects.requireNonNull(values.get(key)); // defaults() has them all
  }

  /** The same but for one key. */
  public <T> Config with(Key<T> key, T value) {
    Map<Key<?>, Object> changed = new LinkedHashMap<>(values);
    changed.put(key, key.type().copy(value));
    return new Config(changed);
  }

  /** Destinations that see the true source address, in the file's order. */
  public Cidrs nonMasqueradeCidrs() {
    return of(Key.NON_MASQUERADE_CIDRS);
  }

  /** Exceptions inside them; the longest prefix wins. */
  public Cidrs masqueradeCidrs() {
    return of(Key.MASQUERADE_CIDRS);
  }

  /** Only packets from here are handled; empty: from anywhere. */
  public Cidrs sourceCidrs() {
    return of(Key.SOURCE_CIDRS);
  }

  /** Only packets that leave here are handled; empty: anywhere. */
  public List<String> outputInterfaces() {
    return of(Key.OUTPUT_INTERFACE);
  }

  /** The source addresses to use; at most one range per family. */
  public List<IpRange> outputAddresses() {
    return of(Key.OUTPUT_ADDRESS);
  }

  public boolean masqLinkLocal() {
    return of(Key.MASQ_LINK_LOCAL);
  }

  public boolean masqLinkLocalIpv6() {
    return of(Key.MASQ_LINK_LOCAL_IPV6);
  }

  public Duration resyncInterval() {
    return of(Key.RESYNC_INTERVAL);
  }

  public boolean enableIpv6() {
    return of(Key.ENABLE_IPV6);
  }

  public boolean randomFully() {
    return of(Key.RANDOM_FULLY);
  }

  /** The source ports to use; empty: the kernel's choice. */
  public List<PortRange> toPorts() {
    return of(Key.TO_PORTS);
  }

  public String masqChain() {
    return of(Key.MASQ_CHAIN);
  }

  public BackendChoice backend() {
    return of(Key.BACKEND);
  }

  public Conntrack conntrack() {
    return of(Key.CONNTRACK);
  }

  /** Whether exempt destinations are protected from other chains' masquerading too. */
  public boolean pin() {
    return of(Key.PIN);
  }

  /** Whether a file with keys that nobody knows is a bad file. */
  public boolean strict() {
    return of(Key.STRICT);
  }

  /** How long a changed config is tried before it counts as good; empty: at once. */
  public Optional<Duration> probation() {
    return of(Key.PROBATION);
  }

  /** Whether this family gets rules. */
  public boolean enables(Family family) {
    return switch (family) {
      case IPV4 -> true;
      case IPV6 -> enableIpv6();
    };
  }

  /** Whether packets to link-local addresses are masqueraded like others. */
  public boolean masqLinkLocal(Family family) {
    return switch (family) {
      case IPV4 -> masqLinkLocal();
      case IPV6 -> masqLinkLocalIpv6();
    };
  }

  /** What happens to packets of a family under this config. */
  public Policy policy(Family family) {
    return ConfigPolicy.of(this, family);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Config that && values.equals(that.values);
  }

  @Override
  public int hashCode() {
    return values.hashCode();
  }

  @Override
  public String toString() {
    return values.toString();
  }
}
