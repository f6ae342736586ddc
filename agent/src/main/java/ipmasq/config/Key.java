package ipmasq.config;

import static ipmasq.config.Config.BackendChoice.CNI;
import static ipmasq.config.Config.BackendChoice.IPTABLES;

import ipmasq.config.Config.BackendChoice;
import ipmasq.config.Config.Conntrack;
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
      key("nonMasqueradeCIDRs", ListTypes.CIDRS, Config.PRIVATE)
          .says("destinations that see the pod's address");

  public static final Key<OptionalLong> CIDR_LIMIT =
      key("cidrLimit", Type.COUNT, OptionalLong.empty())
          .ifAbsent("64; with nftables no limit")
          .says("most entries that list may have");

  public static final Key<Boolean> MASQ_LINK_LOCAL =
      key("masqLinkLocal", Type.BOOLEAN, false).says("masquerade `169.254.0.0/16` too");

  public static final Key<Boolean> MASQ_LINK_LOCAL_IPV6 =
      key("masqLinkLocalIPv6", Type.BOOLEAN, false).says("masquerade `fe80::/10` too");

  public static final Key<Duration> RESYNC_INTERVAL =
      key("resyncInterval", Type.INTERVAL, Duration.ofSeconds(60))
          // In the agent that has this flag, the file's own interval goes before it.
          .flag(
              new KeyFlag(
                  "resync-interval",
                  "SECONDS",
                  "compare rules and config this often, unless the file says otherwise (default 60)",
                  false))
          .says("look at everything this often, whatever happens");

  // Keys that their users have asked for.
  public static final Key<Cidrs> MASQUERADE_CIDRS =
      key("masqueradeCIDRs", ListTypes.CIDRS, Cidrs.NONE)
          .ifAbsent("none")
          .says("exceptions: parts of the ranges above that are masqueraded");

  public static final Key<Cidrs> SOURCE_CIDRS =
      key("sourceCIDRs", ListTypes.CIDRS, Cidrs.NONE)
          .notWith(CNI)
          .ifAbsent("any")
          .says("masquerade only what comes from here");

  public static final Key<List<String>> OUTPUT_INTERFACE =
      key("outputInterface", ListTypes.INTERFACES, List.of())
          .notWith(CNI)
          .ifAbsent("any")
          .says("masquerade only what leaves by these interfaces");

  public static final Key<List<IpRange>> OUTPUT_ADDRESS =
      key("outputAddress", ListTypes.ADDRESSES, List.of())
          .notWith(CNI)
          .ifAbsent("the interface's")
          .says("the address to masquerade with");

  public static final Key<Boolean> ENABLE_IPV6 =
      key("enableIPv6", Type.BOOLEAN, false)
          .flag("enable-ipv6", "", "masquerade IPv6 too")
          .says("keep IPv6 rules too");

  public static final Key<Boolean> RANDOM_FULLY =
      key("randomFully", Type.BOOLEAN, true)
          .flag("random-fully", "", "choose source ports at random (default true)")
          .says("choose source ports at random");

  public static final Key<List<PortRange>> TO_PORTS =
      key("toPorts", ListTypes.PORTS, List.of())
          .flag(
              "to-ports",
              "RANGES",
              "source ports for tcp, udp and sctp, such as 1024-29999,32768-65535")
          .notWith(CNI)
          .ifAbsent("the kernel's choice")
          .says("the source ports to choose from");

  public static final Key<String> MASQ_CHAIN =
      key("masqChain", Type.CHAIN, "IP-MASQ-AGENT")
          .flag("masq-chain", "NAME", "name of the nat chain (default IP-MASQ-AGENT)")
          .says("name of the iptables chain");

  public static final Key<BackendChoice> BACKEND =
      key("backend", Type.choice(BackendChoice.class), BackendChoice.AUTO)
          .flag(
              "backend",
              "auto|iptables|nftables|cni",
              "what to write (default auto: as the node does)")
          .says("how rules get into the kernel");

  public static final Key<Conntrack> CONNTRACK =
      key("conntrack", Type.choice(Conntrack.class), Conntrack.KEEP)
          .notWith(CNI)
          .says("which flows under way follow a change of the rules");

  public static final Key<Boolean> PIN =
      key("pin", Type.BOOLEAN, false)
          .notWith(IPTABLES, CNI)
          .says("keep exempt traffic from other chains' masquerading too");

  public static final Key<Boolean> STRICT =
      key("strict", Type.BOOLEAN, false)
          .flag(
              "strict",
              "",
              "refuse a config with keys that would be ignored; for check, with any warning")
          .says("refuse a file with keys that would be ignored");

  public static final Key<Optional<Duration>> PROBATION =
      key("probation", Type.PERIOD, Optional.empty())
          .flag(
              "probation",
              "DURATION",
              "watch the flows this long after a changed config, such as 10m (default: off)")
          .ifAbsent("off")
          .says("watch the flows this long after a changed config");

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
  private final Type<T> type;
  private final T byDefault;
  private Optional<KeyFlag> flag = Optional.empty();
  private Set<BackendChoice> unsupported = Set.of();
  private String inWords = "";
  private String text = "";

  private Key(String name, Type<T> type, T byDefault) {
    this.name = name;
    this.type = type;
    this.byDefault = byDefault;
  }

  private static <T> Key<T> key(String name, Type<T> type, T byDefault) {
    return new Key<>(name, type, byDefault);
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

  /** The end of the description: its row in the table of keys, and what editors show. */
  private Key<T> says(String words) {
    text = words;
    described.add(this);
    return this;
  }

  public String name() {
    return name;
  }

  public Optional<KeyFlag> flag() {
    return flag;
  }

  Type<T> type() {
    return type;
  }

  /** The value without file and flag. */
  T byDefault() {
    return byDefault;
  }

  /** What it is, in a few words. */
  String text() {
    return text;
  }

  /** Whether a backend supports values other than the default. */
  boolean isPossibleWith(BackendChoice backend) {
    return !unsupported.contains(backend);
  }

  /** The key that a file means, ignoring case. */
  static Optional<Key<?>> named(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return ALL.stream().filter(key -> key.name.toLowerCase(Locale.ROOT).equals(lower)).findFirst();
  }

  /** What happens without file and flag, in words; empty if the default value says it. */
  public String defaultInWords() {
    return inWords;
  }

  /** A value as JSON would have it. */
  public Object json(T value) {
    return type.json().apply(value);
  }

  /** The result of reading its flag. */
  public sealed interface GivenFlag {
    record As(FlagDefaults defaults) implements GivenFlag {}

    record WrongValue(String reason) implements GivenFlag {}
  }

  /** Changes the defaults as the text of its flag says. */
  public GivenFlag given(String words, FlagDefaults before) {
    KeyFlag given = flag.orElseThrow();
    Problems problems = new Problems();
    var in = new Type.Input("--" + given.name, 0, Value.ofFlag(words), new ArrayList<>(), problems);
    Optional<T> read = type.decoder().decode(in);
    return read.isEmpty() || problems.anyError()
        ? new GivenFlag.WrongValue(problems.first().inWords())
        : new GivenFlag.As(before.with(this, read.get(), given.wins));
  }

  @Override
  public String toString() {
    return name;
  }
}
