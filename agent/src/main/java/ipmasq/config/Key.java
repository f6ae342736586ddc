package ipmasq.config;

import static ipmasq.config.Config.BackendChoice.CNI;
import static ipmasq.config.Config.BackendChoice.IPTABLES;

import ipmasq.config.Config.BackendChoice;
import ipmasq.config.Config.Conntrack;
import ipmasq.config.ValueType.Parsed;
import ipmasq.net.Cidrs;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * A key of the config file with its full description: the only place to describe a new key.
 * Reading, merging, flags and help follow from here; tests hold the JSON Schema and the table in
 * {@code docs/configuration.md} to it. {@link Config#of} gives its value.
 */
public final class Key<T> {
  /** Every key, in the order in which people meet them: the order of this file. */
  public static final List<Key<?>> ALL;

  private static final List<Key<?>> described = new ArrayList<>();

  // Keys of the Go agents.
  public static final Key<Cidrs> NON_MASQUERADE_CIDRS =
      key("nonMasqueradeCIDRs", ListTypes.CIDRS, Config.PRIVATE, Merge.uniteRanges())
          .says(
              "destinations that see the pod's address",
              List.of("10.0.0.0/8", "100.64.0.0/10"),
              List.of());

  public static final Key<OptionalLong> CIDR_LIMIT =
      key("cidrLimit", ScalarTypes.COUNT, OptionalLong.empty(), Merge.agree())
          .ifAbsent("64; with nftables no limit")
          .says("most entries that list may have", 64, 1000);

  public static final Key<Boolean> MASQ_LINK_LOCAL =
      key("masqLinkLocal", ScalarTypes.BOOLEAN, false, Merge.or())
          .says("masquerade `169.254.0.0/16` too", true, false);

  public static final Key<Boolean> MASQ_LINK_LOCAL_IPV6 =
      key("masqLinkLocalIPv6", ScalarTypes.BOOLEAN, false, Merge.or())
          .says("masquerade `fe80::/10` too", true, false);

  public static final Key<Duration> RESYNC_INTERVAL =
      key("resyncInterval", ScalarTypes.INTERVAL, Duration.ofSeconds(60), Merge.agree())
          // In the agent that has this flag, the file's own interval goes before it.
          .flag(
              new KeyFlag(
                  "resync-interval",
                  "SECONDS",
                  "compare rules and config this often, unless the file says otherwise (default 60)",
                  false))
          .says("look at everything this often, whatever happens", "60s", "1h30m", "500ms", "1.5h");

  // Keys that their users have asked for.
  public static final Key<Cidrs> MASQUERADE_CIDRS =
      key("masqueradeCIDRs", ListTypes.CIDRS, Cidrs.NONE, Merge.uniteRanges())
          .ifAbsent("none")
          .says(
              "exceptions: parts of the ranges above that are masqueraded",
              List.of("10.8.0.0/16"),
              List.of());

  public static final Key<Cidrs> SOURCE_CIDRS =
      key("sourceCIDRs", ListTypes.CIDRS, Cidrs.NONE, Merge.uniteRanges())
          .notWith(CNI)
          .ifAbsent("any")
          .says("masquerade only what comes from here", List.of("10.244.0.0/16"), List.of());

  public static final Key<List<String>> OUTPUT_INTERFACE =
      key("outputInterface", ListTypes.INTERFACES, List.of(), Merge.<String>unite())
          .notWith(CNI)
          .ifAbsent("any")
          .says(
              "masquerade only what leaves by these interfaces",
              "eth0",
              "eth+",
              List.of("eth0", "wlan+"));

  public static final Key<List<IpRange>> OUTPUT_ADDRESS =
      key("outputAddress", ListTypes.ADDRESSES, List.of(), Merge.<IpRange>unite())
          .notWith(CNI)
          .ifAbsent("the interface's")
          .says(
              "the address to masquerade with",
              "192.0.2.1",
              "192.0.2.1-192.0.2.9",
              List.of("192.0.2.1"));

  public static final Key<Boolean> ENABLE_IPV6 =
      key("enableIPv6", ScalarTypes.BOOLEAN, false, Merge.or())
          .flag("enable-ipv6", "", "masquerade IPv6 too")
          .says("keep IPv6 rules too", true, false);

  public static final Key<Boolean> RANDOM_FULLY =
      key("randomFully", ScalarTypes.BOOLEAN, true, Merge.or())
          .flag("random-fully", "", "choose source ports at random (default true)")
          .says("choose source ports at random", true, false);

  public static final Key<List<PortRange>> TO_PORTS =
      key("toPorts", ListTypes.PORTS, List.of(), Merge.<List<PortRange>>agree())
          .flag(
              "to-ports",
              "RANGES",
              "source ports for tcp, udp and sctp, such as 1024-29999,32768-65535")
          .notWith(CNI)
          .ifAbsent("the kernel's choice")
          .says(
              "the source ports to choose from",
              "1024-29999,32768-65535",
              5000,
              List.of("1024-29999", "32768-65535", 5000),
              "");

  public static final Key<String> MASQ_CHAIN =
      key("masqChain", ScalarTypes.CHAIN, "IP-MASQ-AGENT", Merge.agree())
          .flag("masq-chain", "NAME", "name of the nat chain (default IP-MASQ-AGENT)")
          .says("name of the iptables chain", "IP-MASQ-AGENT", "MY-CHAIN");

  public static final Key<BackendChoice> BACKEND =
      key("backend", ScalarTypes.choice(BackendChoice.class), BackendChoice.AUTO, Merge.agree())
          .flag(
              "backend",
              "auto|iptables|nftables|cni",
              "what to write (default auto: as the node does)")
          .says("how rules get into the kernel", "auto", "iptables", "nftables", "cni");

  public static final Key<Conntrack> CONNTRACK =
      key("conntrack", ScalarTypes.choice(Conntrack.class), Conntrack.KEEP, Merge.agree())
          .notWith(CNI)
          .says("which flows under way follow a change of the rules", "keep", "udp", "all");

  public static final Key<Boolean> PIN =
      key("pin", ScalarTypes.BOOLEAN, false, Merge.or())
          .notWith(IPTABLES, CNI)
          .says("keep exempt traffic from other chains' masquerading too", true, false);

  public static final Key<Boolean> STRICT =
      key("strict", ScalarTypes.BOOLEAN, false, Merge.or())
          .flag(
              "strict",
              "",
              "refuse a config with keys that would be ignored; for check, with any warning")
          .says("refuse a file with keys that would be ignored", true, false);

  public static final Key<Optional<Duration>> PROBATION =
      key("probation", ScalarTypes.PERIOD, Optional.empty(), Merge.<Optional<Duration>>agree())
          .flag(
              "probation",
              "DURATION",
              "watch the flows this long after a changed config, such as 10m (default: off)")
          .ifAbsent("off")
          .says("watch the flows this long after a changed config", "10m", "90s");

  static {
    ALL = List.copyOf(described);
  }

  /**
   * The flag that decides the same.
   *
   * @param name without dashes
   * @param value how its value is called in the help; empty for a switch
   * @param help one line
   * @param wins whether it overrides the file
   */
  public record KeyFlag(String name, String value, String help, boolean wins) {}

  private final String name;
  private final ValueType<T> type;
  private final T byDefault;
  private final Merge<T> merge;
  private Optional<KeyFlag> flag = Optional.empty();
  private Set<BackendChoice> unsupported = Set.of();
  private String inWords = "";
  private String text = "";
  private List<Object> examples = List.of();

  private Key(String name, ValueType<T> type, T byDefault, Merge<T> merge) {
    this.name = name;
    this.type = type;
    this.byDefault = type.copy(byDefault);
    this.merge = merge;
  }

  private static <T> Key<T> key(String name, ValueType<T> type, T byDefault, Merge<T> merge) {
    return new Key<>(name, type, byDefault, merge);
  }

  /** A flag that wins over the file. */
  private Key<T> flag(String flagName, String value, String help) {
    return flag(new KeyFlag(flagName, value, help, true));
  }

  private Key<T> flag(KeyFlag same) {
    flag = Optional.of(same);
    return this;
  }

  private Key<T> notWith(BackendChoice... backends) {
    unsupported = Set.of(backends);
    return this;
  }

  /** What happens if it is left out, where the default value does not say it. */
  private Key<T> ifAbsent(String words) {
    inWords = words;
    return this;
  }

  /**
   * The end of the description.
   *
   * @param words its row in the table of keys, and what editors show
   * @param values examples, as JSON would have them
   */
  private Key<T> says(String words, Object... values) {
    text = words;
    examples = List.of(values);
    described.add(this);
    return this;
  }

  public String name() {
    return name;
  }

  public Optional<KeyFlag> flag() {
    return flag;
  }

  ValueType<T> type() {
    return type;
  }

  /** The value without file and flag. */
  T byDefault() {
    return byDefault;
  }

  Merge<T> merge() {
    return merge;
  }

  /** What it is, in a few words. */
  String text() {
    return text;
  }

  List<Object> examples() {
    return examples;
  }

  /** Whether a backend supports values other than the default. */
  boolean isPossibleWith(BackendChoice backend) {
    return !unsupported.contains(backend);
  }

  /** The key that a file means: by exact spelling, else ignoring case. */
  static Optional<Key<?>> named(String name) {
    for (Key<?> key : ALL) {
      if (key.name.equals(name)) {
        return Optional.of(key);
      }
    }
    for (Key<?> key : ALL) {
      if (key.name.toLowerCase(Locale.ROOT).equals(name.toLowerCase(Locale.ROOT))) {
        return Optional.of(key);
      }
    }
    return Optional.empty();
  }

  /** What happens without file and flag, in words; empty if the default value says it. */
  public String defaultInWords() {
    return inWords;
  }

  /** A value as JSON would have it. */
  public Object json(T value) {
    return type.json(value);
  }

  /** The result of parsing its flag. */
  public sealed interface GivenFlag {
    record As(FlagDefaults defaults) implements GivenFlag {}

    record WrongValue(String reason) implements GivenFlag {}
  }

  /** Changes the defaults as the text of its flag says. */
  public GivenFlag given(String text, FlagDefaults before) {
    return switch (type.parse(text)) {
      case Parsed.Malformed<T>(String reason) -> new GivenFlag.WrongValue(reason);
      case Parsed.Valid<T>(T value) ->
          new GivenFlag.As(before.with(this, value, flag.isPresent() && flag.get().wins()));
    };
  }

  @Override
  public String toString() {
    return name;
  }
}
