package ipmasq.config;

import ipmasq.config.Config.BackendChoice;
import ipmasq.config.Setting.Places;
import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import ipmasq.net.IpRange;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Checks across keys and files: whether they make sense together. */
final class ConfigChecks {
  private static final List<Key<Cidrs>> RANGES =
      List.of(Key.NON_MASQUERADE_CIDRS, Key.MASQUERADE_CIDRS, Key.SOURCE_CIDRS);

  private final List<ConfigFile> files;
  private final FlagDefaults flags;
  private final Config config;

  ConfigChecks(List<ConfigFile> files, FlagDefaults flags, Config config) {
    this.files = files;
    this.flags = flags;
    this.config = config;
  }

  /** Reports to the files what is wrong with them. */
  void check() {
    requireIpv6();
    requireOneAddressPerFamily();
    requireDistinctLists();
    requireWithinLimit();
    requireWithinMemory();
    requireSupport();
    warnOfEmptyLists();
    warnOfExemptingAll();
    warnOfMaskedIpv6();
    warnOfManyRules();
    warnOfRepetitions();
    warnOfExceptionsToNothing();
  }

  /** The place of a list element. */
  private record CheckedPlace(ConfigFile file, int line, int column) {
    void error(String message, String hint) {
      file.problems().error(line, column, message, hint);
    }

    void warning(String message, String hint) {
      file.problems().warning(line, column, message, hint);
    }

    @Override
    public String toString() {
      return file.source().path() + ":" + line + ":" + column;
    }
  }

  private interface Visitor<E> {
    void visit(E element, CheckedPlace place);
  }

  /** Goes through the elements that the files give for a key. */
  private <E, L extends List<E>> void each(Key<L> key, Visitor<E> visitor) {
    for (ConfigFile file : files) {
      Setting<L> setting = file.setting(key);
      if (setting == null) {
        continue;
      }
      List<E> list = setting.value().<List<E>>map(given -> given).orElse(List.of());
      for (int i = 0; i < list.size(); i++) {
        Places places = setting.places();
        visitor.visit(list.get(i), new CheckedPlace(file, places.line(i), places.column(i)));
      }
    }
  }

  private void requireIpv6() {
    if (config.enableIpv6()) {
      return;
    }
    for (Key<Cidrs> key : RANGES) {
      each(key, (range, place) -> requireIpv6(range.family(), "cidr " + range, place));
    }
    each(
        Key.OUTPUT_ADDRESS,
        (range, place) -> requireIpv6(range.family(), "outputAddress " + range, place));
  }

  private static void requireIpv6(Family family, String what, CheckedPlace place) {
    if (family == Family.IPV6) {
      place.error(
          "ipv6 is not enabled, but ipv6 " + what + " provided",
          "enable it with the flag --enable-ipv6 or with \"enableIPv6: true\"");
    }
  }

  private void requireOneAddressPerFamily() {
    Map<Family, IpRange> ranges = new EnumMap<>(Family.class);
    Map<Family, CheckedPlace> places = new EnumMap<>(Family.class);
    each(
        Key.OUTPUT_ADDRESS,
        (range, place) -> {
          IpRange first = ranges.putIfAbsent(range.family(), range);
          CheckedPlace before = places.putIfAbsent(range.family(), place);
          if (first != null && !first.equals(range)) {
            place.error(
                "outputAddress " + range + " is a second one for " + range.family(),
                "the first is at " + before + "; write a range to give several addresses");
          }
        });
  }

  /** The same prefix cannot be exempt and masqueraded at once. */
  private void requireDistinctLists() {
    Map<Cidr, CheckedPlace> exceptions = new HashMap<>();
    each(Key.MASQUERADE_CIDRS, exceptions::putIfAbsent);
    if (exceptions.isEmpty()) {
      return;
    }
    requireNotLinkLocal(exceptions);
    each(
        Key.NON_MASQUERADE_CIDRS,
        (range, place) -> {
          CheckedPlace exception = exceptions.get(range);
          if (exception != null) {
            exception.error(
                range + " is in masqueradeCIDRs and, at " + place + ", in nonMasqueradeCIDRs too",
                "remove it from one of the two lists");
          }
        });
    if (files.stream().noneMatch(file -> file.setting(Key.NON_MASQUERADE_CIDRS) != null)) {
      for (Cidr range : config.nonMasqueradeCidrs()) {
        CheckedPlace exception = exceptions.get(range);
        if (exception != null) {
          exception.error(
              range + " is in masqueradeCIDRs and by default in nonMasqueradeCIDRs too",
              "give nonMasqueradeCIDRs without it");
        }
      }
    }
  }

  private void requireNotLinkLocal(Map<Cidr, CheckedPlace> exceptions) {
    for (Family family : Family.values()) {
      CheckedPlace exception = exceptions.get(family.linkLocal());
      if (exception != null && !config.masqLinkLocal(family)) {
        Key<?> key = family == Family.IPV4 ? Key.MASQ_LINK_LOCAL : Key.MASQ_LINK_LOCAL_IPV6;
        exception.error(
            family.linkLocal() + " is in masqueradeCIDRs, but link-local is exempt",
            "write \"" + key + ": true\" instead");
      }
    }
  }

  /** The files' own limit, or that of iptables, which walks its rules one by one. */
  private OptionalLong limit() {
    OptionalLong own = config.of(Key.CIDR_LIMIT);
    if (own.isPresent()) {
      return own;
    }
    return switch (flags.backend(config)) {
      case AUTO, IPTABLES -> OptionalLong.of(Config.DEFAULT_CIDR_LIMIT); // auto may be iptables
      case NFTABLES, CNI -> OptionalLong.empty();
    };
  }

  private void requireWithinLimit() {
    long limit = limit().orElse(Long.MAX_VALUE);
    int count = config.nonMasqueradeCidrs().size();
    if (count <= limit) {
      return;
    }
    ConfigFile file = files.getFirst();
    @Nullable Setting<?> at = null;
    for (Key<?> key : List.of(Key.CIDR_LIMIT, Key.NON_MASQUERADE_CIDRS)) {
      for (ConfigFile candidate : files) {
        Setting<?> setting = candidate.setting(key);
        if (setting != null) {
          file = candidate;
          at = setting;
        }
      }
    }
    file.problems()
        .error(
            at == null ? 0 : at.at().line(),
            at == null ? 0 : at.at().column(),
            "the daemon can only accept up to "
                + limit
                + " CIDRs (excluding link-local), but got "
                + count
                + " CIDRs (excluding link local)",
            config.of(Key.CIDR_LIMIT).isPresent()
                ? "raise cidrLimit, or join ranges"
                : "choose \"backend: nftables\", which takes any number; or raise cidrLimit, or join"
                    + " ranges");
  }

  /** Each file fits, but all together may not. */
  private void requireWithinMemory() {
    int count = RANGES.stream().mapToInt(key -> config.of(key).size()).sum();
    if (count > SizeLimit.VALUES) {
      files
          .getFirst()
          .problems()
          .error(
              0,
              0,
              "too large for the agent: " + count + " ranges, and " + SizeLimit.values(),
              SizeLimit.advice());
    }
  }

  private void requireSupport() {
    BackendChoice backend = flags.backend(config);
    for (Key<?> key : Key.ALL) {
      if (!key.isPossibleWith(backend) && !config.of(key).equals(key.byDefault())) {
        for (ConfigFile file : files) {
          Setting<?> setting = file.setting(key);
          if (setting != null) {
            file.problems()
                .error(
                    setting.at(),
                    key + " is not possible with the backend " + Key.BACKEND.json(backend),
                    "remove it, or choose another backend");
          }
        }
      }
    }
  }

  private void warnOfEmptyLists() {
    if (config.nonMasqueradeCidrs().isEmpty()) {
      warnAt(
          Key.NON_MASQUERADE_CIDRS,
          "nonMasqueradeCIDRs is empty: everything but link-local is masqueraded",
          "list the ranges that should see pod addresses, or remove the key for the defaults");
    }
    if (config.sourceCidrs().isEmpty()) {
      warnAt(
          Key.SOURCE_CIDRS,
          "sourceCIDRs is empty: traffic from every source is masqueraded",
          "list the sources, or remove the key");
    }
  }

  private void warnOfExemptingAll() {
    each(
        Key.NON_MASQUERADE_CIDRS,
        (range, place) -> {
          if (range.prefix() == 0 && config.masqueradeCidrs().of(range.family()).isEmpty()) {
            place.warning(
                range + " exempts every " + range.family() + " address: nothing is masqueraded",
                "list only the ranges that should see pod addresses");
          }
        });
  }

  private void warnOfMaskedIpv6() {
    boolean handled =
        config.sourceCidrs().isEmpty() || !config.sourceCidrs().of(Family.IPV6).isEmpty();
    if (config.enableIpv6()
        && handled
        && config.nonMasqueradeCidrs().of(Family.IPV6).isEmpty()
        && !config.nonMasqueradeCidrs().isEmpty()) {
      String message =
          "IPv6 is enabled, but nonMasqueradeCIDRs has no IPv6 range: all IPv6 traffic"
              + (config.masqLinkLocalIpv6() ? "" : " but link-local")
              + " is masqueraded, that between pods too";
      String hint = "list the IPv6 ranges of pods and nodes, such as \"fd00::/8\"";
      if (!warnAt(Key.ENABLE_IPV6, message, hint)) {
        warnAt(Key.NON_MASQUERADE_CIDRS, message, hint);
      }
    }
  }

  /** The limit was raised for a backend that walks its rules one by one. */
  private void warnOfManyRules() {
    int count = config.nonMasqueradeCidrs().size();
    if (count > Config.DEFAULT_CIDR_LIMIT
        && flags.backend(config) != BackendChoice.NFTABLES
        && flags.backend(config) != BackendChoice.CNI) {
      warnAt(
          Key.NON_MASQUERADE_CIDRS,
          count
              + " ranges are as many rules that iptables tries one by one for each new connection",
          "choose \"backend: nftables\", which looks them up at once, or join ranges");
    }
  }

  private boolean warnAt(Key<?> key, String message, String hint) {
    for (ConfigFile file : files) {
      Setting<?> setting = file.setting(key);
      // A list that is empty because its elements are bad has been reported already.
      if (setting != null && !file.problems().anyError()) {
        file.problems().warning(setting.at(), message, hint);
        return true;
      }
    }
    return false;
  }

  /** Within one file; two files may share a range. */
  private void warnOfRepetitions() {
    for (Key<Cidrs> key : RANGES) {
      for (ConfigFile file : files) {
        Setting<Cidrs> setting = file.setting(key);
        if (setting != null && setting.value().isPresent()) {
          warnOfRepetitions(file, setting, setting.value().get());
        }
      }
    }
  }

  private static void warnOfRepetitions(ConfigFile file, Setting<Cidrs> setting, Cidrs list) {
    if (list.distinct().size() == list.size()) {
      return;
    }
    Map<Cidr, Integer> first = new HashMap<>();
    Places places = setting.places();
    for (int i = 0; i < list.size() && file.problems().wantsWarnings(); i++) {
      Integer before = first.putIfAbsent(list.get(i), i);
      if (before != null) {
        file.problems()
            .warning(
                places.line(i),
                places.column(i),
                list.get(i)
                    + " is in "
                    + setting.key()
                    + " twice; the first is at "
                    + places.line(before)
                    + ":"
                    + places.column(before),
                "remove one of the two");
      }
    }
  }

  /** An exception outside all exempt ranges has no effect: its range is masqueraded anyway. */
  private void warnOfExceptionsToNothing() {
    if (config.masqueradeCidrs().isEmpty()) {
      return;
    }
    Cidrs exempt = config.nonMasqueradeCidrs().outermost();
    each(
        Key.MASQUERADE_CIDRS,
        (range, place) -> {
          boolean linkLocal =
              !config.masqLinkLocal(range.family()) && range.family().linkLocal().contains(range);
          if (config.enables(range.family()) && !linkLocal && !isIn(range, exempt)) {
            place.warning(
                range
                    + " in masqueradeCIDRs has no effect: it lies in no range of"
                    + " nonMasqueradeCIDRs",
                "remove it: what is not exempt is masqueraded anyway");
          }
        });
  }

  /**
   * @param exempt in order, none in another
   */
  private static boolean isIn(Cidr range, List<Cidr> exempt) {
    int found = Collections.binarySearch(exempt, range);
    int before = found >= 0 ? found : -found - 2;
    return before >= 0 && exempt.get(before).contains(range);
  }
}
