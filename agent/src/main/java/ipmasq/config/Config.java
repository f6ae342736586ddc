package ipmasq.config;

import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import ipmasq.policy.Translation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** All settings of file and flags: a valid value for every {@link Key}. */
public final class Config {
  /** How many ranges a list may have if rules are walked one by one. */
  public static final int DEFAULT_CIDR_LIMIT = 64;

  /** The private ranges of RFC 1918: exempt by default. */
  public static final Cidrs PRIVATE = cidrs("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16");

  /** All reserved ranges: the default list under {@code --nomasq-all-reserved-ranges}. */
  public static final Cidrs RESERVED =
      PRIVATE.followedBy(
          cidrs(
              "100.64.0.0/10",
              "192.0.0.0/24",
              "192.0.2.0/24",
              "192.88.99.0/24",
              "198.18.0.0/15",
              "198.51.100.0/24",
              "203.0.113.0/24",
              "240.0.0.0/4"));

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

  private static Cidrs cidrs(String... texts) {
    return Cidrs.copyOf(Stream.of(texts).map(Cidr::of).toList());
  }

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
    changed.put(key, value);
    return new Config(changed);
  }

  /** Destinations that see the true source address, in the file's order. */
  public Cidrs nonMasqueradeCidrs() {
    return of(Key.NON_MASQUERADE_CIDRS);
  }

  /** Only packets from here are handled; empty: from anywhere. */
  public Cidrs sourceCidrs() {
    return of(Key.SOURCE_CIDRS);
  }

  public Duration resyncInterval() {
    return of(Key.RESYNC_INTERVAL);
  }

  public boolean enableIpv6() {
    return of(Key.ENABLE_IPV6);
  }

  public String masqChain() {
    return of(Key.MASQ_CHAIN);
  }

  public BackendChoice backend() {
    return of(Key.BACKEND);
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
      case IPV4 -> of(Key.MASQ_LINK_LOCAL);
      case IPV6 -> of(Key.MASQ_LINK_LOCAL_IPV6);
    };
  }

  /** What happens to packets of a family under this config. */
  public Policy policy(Family family) {
    Cidrs sources = sourceCidrs().of(family);
    if (sources.isEmpty() && !sourceCidrs().isEmpty()) {
      // Sources of the other family only: this family has no traffic to handle.
      return new Policy(
          family,
          List.of(),
          List.of(),
          Destination.exempt(List.of(family.all())),
          new Translation(Optional.empty(), List.of(), false));
    }
    // Duplicate ranges are written once, unlike in the Go agents.
    Cidrs exempt =
        Cidrs.copyOf(masqLinkLocal(family) ? List.of() : List.of(family.linkLocal()))
            .followedBy(nonMasqueradeCidrs().of(family));
    return new Policy(
        family,
        sources,
        of(Key.OUTPUT_INTERFACE),
        destinations(exempt.distinct(), of(Key.MASQUERADE_CIDRS).of(family).distinct()),
        new Translation(
            of(Key.OUTPUT_ADDRESS).stream().filter(range -> range.family() == family).findFirst(),
            of(Key.TO_PORTS),
            of(Key.RANDOM_FULLY)),
        of(Key.PIN));
  }

  /** First match becomes longest prefix; without exceptions the file's order stays. */
  private static List<Destination> destinations(Cidrs exempt, Cidrs exceptions) {
    if (exceptions.isEmpty()) {
      return Destination.exempt(exempt);
    }
    // The file's ranges come before the built-in exemption of link-local.
    List<Destination> destinations = new ArrayList<>(exempt.size() + exceptions.size());
    exceptions.forEach(range -> destinations.add(new Destination(range, Treatment.TRANSLATE)));
    destinations.addAll(Destination.exempt(exempt));
    destinations.sort(Comparator.comparing(each -> -each.range().prefix()));
    return destinations;
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
