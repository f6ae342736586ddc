package ipmasq.config;

import ipmasq.config.Config.BackendChoice;
import ipmasq.config.Config.Conntrack;
import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The keys of the config file: how each is spelled, read, and joined over several files. */
public final class Key<T> {
  /** What to do when several files give a key. */
  enum Join {
    /** One list of all their elements. */
    UNITE,
    /** True where one of them is. */
    OR,
    /** They must agree. */
    AGREE
  }

  // What the Go agents know.
  static final Key<Listed<Cidr>> NON_MASQUERADE_CIDRS =
      new Key<>(
          "nonMasqueradeCIDRs",
          "",
          Join.UNITE,
          Decoders.list(Elements::cidr, Cidrs.Collector::new));
  static final Key<Long> CIDR_LIMIT = new Key<>("cidrLimit", "", Join.AGREE, Decoders::whole);
  static final Key<Boolean> MASQ_LINK_LOCAL =
      new Key<>("masqLinkLocal", "", Join.OR, Decoders::truth);
  static final Key<Boolean> MASQ_LINK_LOCAL_IPV6 =
      new Key<>("masqLinkLocalIPv6", "", Join.OR, Decoders::truth);
  public static final Key<Duration> RESYNC_INTERVAL =
      new Key<>("resyncInterval", "resync-interval", Join.AGREE, Decoders::interval);

  // What their users have asked for.
  static final Key<Listed<Cidr>> MASQUERADE_CIDRS =
      new Key<>(
          "masqueradeCIDRs", "", Join.UNITE, Decoders.list(Elements::cidr, Cidrs.Collector::new));
  static final Key<Listed<Cidr>> SOURCE_CIDRS =
      new Key<>("sourceCIDRs", "", Join.UNITE, Decoders.list(Elements::cidr, Cidrs.Collector::new));
  static final Key<Listed<String>> OUTPUT_INTERFACE =
      new Key<>("outputInterface", "", Join.UNITE, Decoders.oneOrList(Elements::networkInterface));
  static final Key<Listed<IpRange>> OUTPUT_ADDRESS =
      new Key<>("outputAddress", "", Join.UNITE, Decoders.oneOrList(Elements::addresses));
  public static final Key<Boolean> ENABLE_IPV6 =
      new Key<>("enableIPv6", "enable-ipv6", Join.OR, Decoders::truth);
  public static final Key<Boolean> RANDOM_FULLY =
      new Key<>("randomFully", "random-fully", Join.OR, Decoders::truth);
  public static final Key<List<PortRange>> TO_PORTS =
      new Key<>("toPorts", "to-ports", Join.AGREE, Decoders::ports);
  public static final Key<String> MASQ_CHAIN =
      new Key<>("masqChain", "masq-chain", Join.AGREE, Decoders::chain);
  public static final Key<BackendChoice> BACKEND =
      new Key<>(
          "backend",
          "backend",
          Join.AGREE,
          Decoders.choice(
              Map.of(
                  "auto", BackendChoice.AUTO,
                  "iptables", BackendChoice.IPTABLES,
                  "nftables", BackendChoice.NFTABLES,
                  "cni", BackendChoice.CNI)));
  public static final Key<Conntrack> CONNTRACK =
      new Key<>(
          "conntrack",
          "",
          Join.AGREE,
          Decoders.choice(
              Map.of("keep", Conntrack.KEEP, "udp", Conntrack.UDP, "all", Conntrack.ALL)));
  public static final Key<Boolean> PIN = new Key<>("pin", "", Join.OR, Decoders::truth);

  /** In the order in which people meet them. */
  public static final List<Key<?>> ALL =
      List.of(
          NON_MASQUERADE_CIDRS,
          CIDR_LIMIT,
          MASQ_LINK_LOCAL,
          MASQ_LINK_LOCAL_IPV6,
          RESYNC_INTERVAL,
          MASQUERADE_CIDRS,
          SOURCE_CIDRS,
          OUTPUT_INTERFACE,
          OUTPUT_ADDRESS,
          ENABLE_IPV6,
          RANDOM_FULLY,
          TO_PORTS,
          MASQ_CHAIN,
          BACKEND,
          CONNTRACK,
          PIN);

  private final String name;
  private final String flag;
  private final Join join;
  private final Decoder<T> decoder;

  private Key(String name, String flag, Join join, Decoder<T> decoder) {
    this.name = name;
    this.flag = flag;
    this.join = join;
    this.decoder = decoder;
  }

  public String name() {
    return name;
  }

  /** The flag that decides the same, without dashes; empty where there is none. */
  public String flag() {
    return flag;
  }

  Join join() {
    return join;
  }

  Decoder<T> decoder() {
    return decoder;
  }

  /** The key that a file means: as it is spelled, or else whatever the case of its letters. */
  static Optional<Key<?>> named(String name) {
    for (Key<?> key : ALL) {
      if (key.name.equals(name)) {
        return Optional.of(key);
      }
    }
    String folded = folded(name);
    for (Key<?> key : ALL) {
      if (folded(key.name).equals(folded)) {
        return Optional.of(key);
      }
    }
    return Optional.empty();
  }

  /** Go's folding: beside ASCII, the Kelvin sign is a k and the long s an s. */
  private static String folded(String name) {
    StringBuilder out = new StringBuilder(name.length());
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      out.append(
          switch (c) {
            case '\u212a' -> 'k';
            case '\u017f' -> 's';
            default -> c >= 'A' && c <= 'Z' ? (char) (c + 32) : c;
          });
    }
    return out.toString();
  }

  @Override
  public String toString() {
    return name;
  }
}
