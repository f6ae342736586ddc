package ipmasq.config;

import static ipmasq.config.Config.BackendChoice.CNI;
import static ipmasq.config.Config.BackendChoice.IPTABLES;

import ipmasq.config.Config.BackendChoice;
import ipmasq.config.Config.Conntrack;
import ipmasq.config.ValueType.ParsedValue;
import ipmasq.net.Cidrs;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
      new Key<>(
          "nonMasqueradeCIDRs",
          ListTypes.CIDRS,
          Config.PRIVATE,
          Merge.uniteRanges(),
          new Docs("destinations that see the pod's address")
              .description(
                  "Destinations that see the true source address. Replaces the default list; an"
                      + " empty list masquerades everything but link-local.")
              .examples(List.of("10.0.0.0/8", "100.64.0.0/10"), List.of()));

  public static final Key<OptionalLong> CIDR_LIMIT =
      new Key<>(
          "cidrLimit",
          ScalarTypes.COUNT,
          OptionalLong.empty(),
          Merge.agree(),
          new Docs("most entries that list may have")
              .byDefault("64; with nftables no limit")
              .description(
                  "How many elements nonMasqueradeCIDRs may have. Without this key 64 for iptables,"
                      + " any number for nftables.")
              .examples(64, 1000));

  public static final Key<Boolean> MASQ_LINK_LOCAL =
      new Key<>(
          "masqLinkLocal",
          ScalarTypes.BOOLEAN,
          false,
          Merge.or(),
          new Docs("masquerade `169.254.0.0/16` too")
              .description("Whether traffic to 169.254.0.0/16 is masqueraded too.")
              .examples(true, false));

  public static final Key<Boolean> MASQ_LINK_LOCAL_IPV6 =
      new Key<>(
          "masqLinkLocalIPv6",
          ScalarTypes.BOOLEAN,
          false,
          Merge.or(),
          new Docs("masquerade `fe80::/10` too")
              .description("Whether traffic to fe80::/10 is masqueraded too.")
              .examples(true, false));

  public static final Key<Duration> RESYNC_INTERVAL =
      new Key<>(
          "resyncInterval",
          ScalarTypes.INTERVAL,
          Duration.ofSeconds(60),
          Merge.agree(),
          new Docs("look at everything this often, whatever happens")
              .description(
                  "How often file and rules are looked at again, as a Go duration: a number with its"
                      + " unit, or several.")
              .examples("60s", "1h30m", "500ms", "1.5h"),
          // In the agent that has this flag, the file's own interval goes before it.
          new KeyFlag(
              "resync-interval",
              "SECONDS",
              "look at file and rules this often, where the file does not say (default 60)",
              false));

  // Keys that their users have asked for.
  public static final Key<Cidrs> MASQUERADE_CIDRS =
      new Key<>(
          "masqueradeCIDRs",
          ListTypes.CIDRS,
          Cidrs.NONE,
          Merge.uniteRanges(),
          new Docs("exceptions: parts of the ranges above that are masqueraded")
              .byDefault("none")
              .description(
                  "Exceptions inside nonMasqueradeCIDRs: these are masqueraded all the same. The"
                      + " longest prefix wins.")
              .examples(List.of("10.8.0.0/16"), List.of()));

  public static final Key<Cidrs> SOURCE_CIDRS =
      new Key<>(
          "sourceCIDRs",
          ListTypes.CIDRS,
          Cidrs.NONE,
          Merge.uniteRanges(),
          new Docs("masquerade only what comes from here")
              .byDefault("any")
              .description("Only traffic from these sources is masqueraded. Empty: from anywhere.")
              .examples(List.of("10.244.0.0/16"), List.of()),
          CNI);

  public static final Key<List<String>> OUTPUT_INTERFACE =
      new Key<>(
          "outputInterface",
          ListTypes.INTERFACES,
          List.of(),
          Merge.unite(),
          new Docs("masquerade only what leaves by these interfaces")
              .byDefault("any")
              .description(
                  "Only traffic that leaves by these network interfaces is masqueraded. A plus at"
                      + " the end stands for any ending.")
              .examples("eth0", "eth+", List.of("eth0", "wlan+")),
          CNI);

  public static final Key<List<IpRange>> OUTPUT_ADDRESS =
      new Key<>(
          "outputAddress",
          ListTypes.ADDRESSES,
          List.of(),
          Merge.unite(),
          new Docs("the address to masquerade with")
              .byDefault("the interface's")
              .description(
                  "The source address to give instead of that of the interface; an address or a"
                      + " range, one per family.")
              .examples("192.0.2.1", "192.0.2.1-192.0.2.9", List.of("192.0.2.1")),
          CNI);

  public static final Key<Boolean> ENABLE_IPV6 =
      new Key<>(
          "enableIPv6",
          ScalarTypes.BOOLEAN,
          false,
          Merge.or(),
          new Docs("keep IPv6 rules too")
              .description("Whether IPv6 is masqueraded too.")
              .examples(true, false),
          new KeyFlag("enable-ipv6", "", "masquerade IPv6 too", true));

  public static final Key<Boolean> RANDOM_FULLY =
      new Key<>(
          "randomFully",
          ScalarTypes.BOOLEAN,
          true,
          Merge.or(),
          new Docs("choose source ports at random")
              .description("Whether the kernel chooses source ports at random.")
              .examples(true, false),
          new KeyFlag("random-fully", "", "choose source ports at random (default true)", true));

  public static final Key<List<PortRange>> TO_PORTS =
      new Key<>(
          "toPorts",
          ListTypes.PORTS,
          List.of(),
          Merge.agree(),
          new Docs("the source ports to choose from")
              .byDefault("the kernel's choice")
              .description("Source ports for tcp, udp and sctp.")
              .examples(
                  "1024-29999,32768-65535", 5000, List.of("1024-29999", "32768-65535", 5000), ""),
          new KeyFlag(
              "to-ports",
              "RANGES",
              "source ports for tcp, udp and sctp, such as 1024-29999,32768-65535",
              true),
          CNI);

  public static final Key<String> MASQ_CHAIN =
      new Key<>(
          "masqChain",
          ScalarTypes.CHAIN,
          "IP-MASQ-AGENT",
          Merge.agree(),
          new Docs("name of the iptables chain")
              .description("The name of the nat chain.")
              .examples("IP-MASQ-AGENT", "MY-CHAIN"),
          new KeyFlag("masq-chain", "NAME", "name of the nat chain (default IP-MASQ-AGENT)", true));

  public static final Key<BackendChoice> BACKEND =
      new Key<>(
          "backend",
          new ScalarTypes.ChoiceType<>(BackendChoice.class),
          BackendChoice.AUTO,
          Merge.agree(),
          new Docs("how rules get into the kernel")
              .description("Which program of the kernel to write.")
              .examples("auto", "iptables", "nftables", "cni"),
          new KeyFlag(
              "backend",
              "auto|iptables|nftables|cni",
              "what to write (default auto: as the node does)",
              true));

  public static final Key<Conntrack> CONNTRACK =
      new Key<>(
          "conntrack",
          new ScalarTypes.ChoiceType<>(Conntrack.class),
          Conntrack.KEEP,
          Merge.agree(),
          new Docs("which flows under way follow a change of the rules")
              .description("Which flows under way are made to follow a change of the rules.")
              .examples("keep", "udp", "all"),
          CNI);

  public static final Key<Boolean> PIN =
      new Key<>(
          "pin",
          ScalarTypes.BOOLEAN,
          false,
          Merge.or(),
          new Docs("keep exempt traffic from other chains' masquerading too")
              .description(
                  "Whether exempt destinations keep their source address even if another chain would"
                      + " masquerade (nftables).")
              .examples(true, false),
          IPTABLES,
          CNI);

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

  /**
   * What people read about a key.
   *
   * @param inShort its row in the table of keys
   * @param inWords what happens if it is left out; empty if the default value says it
   * @param text what editors show
   * @param examples as JSON would have them
   */
  record Docs(String inShort, String inWords, String text, List<Object> examples) {
    Docs(String inShort) {
      this(inShort, "", "", List.of());
    }

    Docs byDefault(String words) {
      return new Docs(inShort, words, text, examples);
    }

    Docs description(String sentence) {
      return new Docs(inShort, inWords, sentence, examples);
    }

    Docs examples(Object... values) {
      return new Docs(inShort, inWords, text, List.of(values));
    }
  }

  private final String name;
  private final ValueType<T> type;
  private final T byDefault;
  private final Merge<T> merge;
  private final Docs docs;
  private final Optional<KeyFlag> flag;
  private final Set<BackendChoice> unsupported;

  private Key(
      String name,
      ValueType<T> type,
      T byDefault,
      Merge<T> merge,
      Docs docs,
      Optional<KeyFlag> flag,
      BackendChoice... unsupported) {
    this.name = name;
    this.type = type;
    this.byDefault = type.copy(byDefault);
    this.merge = merge;
    this.docs = docs;
    this.flag = flag;
    this.unsupported = Set.of(unsupported);
    described.add(this);
  }

  private Key(
      String name,
      ValueType<T> type,
      T byDefault,
      Merge<T> merge,
      Docs docs,
      KeyFlag flag,
      BackendChoice... unsupported) {
    this(name, type, byDefault, merge, docs, Optional.of(flag), unsupported);
  }

  private Key(
      String name,
      ValueType<T> type,
      T byDefault,
      Merge<T> merge,
      Docs docs,
      BackendChoice... unsupported) {
    this(name, type, byDefault, merge, docs, Optional.empty(), unsupported);
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

  Docs docs() {
    return docs;
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

  /** What happens without file and flag, in words; empty if the default value says it. */
  public String defaultInWords() {
    return docs.inWords();
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
      case ParsedValue.MalformedValue<T>(String reason) -> new GivenFlag.WrongValue(reason);
      case ParsedValue.Value<T>(T value) ->
          new GivenFlag.As(before.with(this, value, flag.isPresent() && flag.get().wins()));
    };
  }

  @Override
  public String toString() {
    return name;
  }
}
