package ipmasq.config;

import ipmasq.config.Config.BackendChoice;
import ipmasq.config.ConfigReader.Setting;
import ipmasq.config.Problem.Place;
import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import ipmasq.net.IpRange;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

/**
 * Checks across keys and files: whether they make sense together.
 *
 * @param file the first one that is there
 */
record ConfigChecks(
    List<Setting<?>> settings,
    FlagDefaults flags,
    Config config,
    Optional<Place> file,
    Problems problems) {
  private static final List<Key<Cidrs>> RANGES =
      List.of(Key.NON_MASQUERADE_CIDRS, Key.MASQUERADE_CIDRS, Key.SOURCE_CIDRS);

  void check() {
    requireIpv6();
    requireOneAddressPerFamily();
    requireDistinctLists();
    requireWithinLimit();
    requireSupport();
    warnOfRepetitions();
    warnOfExceptionsToNothing();
    warnOfDangers();
  }

  /** What the files give for a key. */
  @SuppressWarnings("unchecked") // a setting has the type of its key
  private <T> Stream<Setting<T>> given(Key<T> key) {
    return settings.stream().filter(it -> it.key() == key).map(it -> (Setting<T>) it);
  }

  /** Goes through the elements that the files give for a key. */
  private <E, L extends List<E>> void each(Key<L> key, BiConsumer<E, Place> visitor) {
    given(key)
        .forEach(
            setting -> {
              List<E> list = setting.value().<List<E>>map(it -> it).orElse(List.of());
              for (int i = 0; i < list.size(); i++) {
                visitor.accept(list.get(i), Value.place(setting.elements().get(i)));
              }
            });
  }

  private void requireIpv6() {
    if (!config.enableIpv6()) {
      for (Key<Cidrs> key : RANGES) {
        each(key, (range, at) -> requireIpv4(range.family(), "cidr " + range, at));
      }
      each(
          Key.OUTPUT_ADDRESS,
          (range, at) -> requireIpv4(range.family(), "outputAddress " + range, at));
    }
  }

  private void requireIpv4(Family family, String what, Place at) {
    if (family == Family.IPV6) {
      problems.error(
          at,
          "ipv6 is not enabled, but ipv6 " + what + " provided",
          "enable it with the flag --enable-ipv6 or with \"enableIPv6: true\"");
    }
  }

  private void requireOneAddressPerFamily() {
    Map<Family, Map.Entry<IpRange, Place>> first = new EnumMap<>(Family.class);
    each(
        Key.OUTPUT_ADDRESS,
        (range, at) -> {
          var before = first.putIfAbsent(range.family(), Map.entry(range, at));
          if (before != null && !before.getKey().equals(range)) {
            problems.error(
                at,
                "outputAddress " + range + " is a second one for " + range.family(),
                "the first is at %s; write a range to give several addresses"
                    .formatted(before.getValue()));
          }
        });
  }

  /** The same prefix cannot be exempt and masqueraded at once. */
  private void requireDistinctLists() {
    Map<Cidr, Place> exceptions = new HashMap<>();
    each(Key.MASQUERADE_CIDRS, exceptions::putIfAbsent);
    if (exceptions.isEmpty()) {
      return;
    }
    for (Family family : Family.values()) {
      Place at = exceptions.get(family.linkLocal());
      if (at != null && !config.masqLinkLocal(family)) {
        Key<?> key = family == Family.IPV4 ? Key.MASQ_LINK_LOCAL : Key.MASQ_LINK_LOCAL_IPV6;
        problems.error(
            at,
            family.linkLocal() + " is in masqueradeCIDRs, but link-local is exempt",
            "write \"" + key + ": true\" instead");
      }
    }
    BiConsumer<Cidr, String> exempt =
        (range, where) -> {
          Place at = exceptions.get(range);
          if (at != null) {
            problems.error(
                at,
                range + " is in masqueradeCIDRs and, " + where + ", in nonMasqueradeCIDRs too",
                "remove it from one of the two lists");
          }
        };
    if (given(Key.NON_MASQUERADE_CIDRS).findAny().isEmpty()) {
      config.nonMasqueradeCidrs().forEach(range -> exempt.accept(range, "by default"));
    }
    each(Key.NON_MASQUERADE_CIDRS, (range, at) -> exempt.accept(range, "at " + at));
  }

  /** The files' own limit, or that of iptables, which walks its rules one by one. */
  private OptionalLong limit() {
    OptionalLong own = config.of(Key.CIDR_LIMIT);
    return own.isPresent() || !walksRules() ? own : OptionalLong.of(Config.DEFAULT_CIDR_LIMIT);
  }

  private boolean walksRules() {
    return switch (flags.backend(config)) {
      case AUTO, IPTABLES -> true; // auto may be iptables
      case NFTABLES, CNI -> false;
    };
  }

  private void requireWithinLimit() {
    int count = config.nonMasqueradeCidrs().size();
    long limit = limit().orElse(count);
    if (count > limit) {
      problems.error(
          last(Key.NON_MASQUERADE_CIDRS).or(() -> last(Key.CIDR_LIMIT)).orElse(Place.of("")),
          "the daemon can only accept up to %d CIDRs (excluding link-local), but got %d CIDRs"
                  .formatted(limit, count)
              + " (excluding link local)",
          config.of(Key.CIDR_LIMIT).isPresent()
              ? "raise cidrLimit, or join ranges"
              : "choose \"backend: nftables\", which takes any number; or raise cidrLimit, or join"
                  + " ranges");
    }
  }

  private <T> Optional<Place> last(Key<T> key) {
    return given(key).map(Setting::at).reduce((_, next) -> next);
  }

  private void requireSupport() {
    BackendChoice backend = flags.backend(config);
    for (Setting<?> setting : settings) {
      Key<?> key = setting.key();
      if (!key.isPossibleWith(backend) && !config.of(key).equals(key.byDefault())) {
        problems.error(
            setting.at(),
            key + " is not possible with the backend " + Key.BACKEND.json(backend),
            "remove it, or choose another backend");
      }
    }
  }

  /** Within one file; two files may share a range. */
  private void warnOfRepetitions() {
    for (Key<Cidrs> key : RANGES) {
      Map<Cidr, Place> first = new HashMap<>();
      each(
          key,
          (range, at) -> {
            Place before = first.putIfAbsent(range, at);
            if (before != null && before.file().equals(at.file())) {
              problems.warning(
                  at,
                  range + " is in " + key + " twice; the first is at " + before,
                  "remove one of the two");
            }
          });
    }
  }

  /** An exception outside all exempt ranges has no effect: its range is masqueraded anyway. */
  private void warnOfExceptionsToNothing() {
    if (config.of(Key.MASQUERADE_CIDRS).isEmpty()) {
      return;
    }
    Cidrs exempt = config.nonMasqueradeCidrs().outermost();
    each(
        Key.MASQUERADE_CIDRS,
        (range, at) -> {
          Family family = range.family();
          boolean linkLocal = !config.masqLinkLocal(family) && family.linkLocal().contains(range);
          boolean inside =
              exempt.holding(range.first()).filter(it -> it.contains(range)).isPresent();
          if (config.enables(family) && !linkLocal && !inside) {
            problems.warning(
                at,
                range
                    + " in masqueradeCIDRs has no effect: it lies in no range of"
                    + " nonMasqueradeCIDRs",
                "remove it: what is not exempt is masqueraded anyway");
          }
        });
  }

  /** Valid, and yet hardly what anybody wants. */
  private void warnOfDangers() {
    each(
        Key.NON_MASQUERADE_CIDRS,
        (range, at) -> {
          if (range.prefix() == 0 && config.of(Key.MASQUERADE_CIDRS).of(range.family()).isEmpty()) {
            problems.warning(
                at,
                range + " exempts every " + range.family() + " address: nothing is masqueraded",
                "list only the ranges that should see pod addresses");
          }
        });
    if (problems.anyError()) {
      return; // a list that is empty because its elements are bad has been reported already
    }
    Cidrs ranges = config.nonMasqueradeCidrs();
    Optional<Place> list = first(Key.NON_MASQUERADE_CIDRS);
    if (ranges.isEmpty()) {
      warn(
          list,
          "nonMasqueradeCIDRs is empty: everything but link-local is masqueraded",
          "list the ranges that should see pod addresses, or remove the key for the defaults");
    }
    if (config.sourceCidrs().isEmpty()) {
      warn(
          first(Key.SOURCE_CIDRS),
          "sourceCIDRs is empty: traffic from every source is masqueraded",
          "list the sources, or remove the key");
    }
    boolean ipv6 =
        config.enableIpv6()
            && (config.sourceCidrs().isEmpty() || !config.sourceCidrs().of(Family.IPV6).isEmpty());
    if (ipv6 && !ranges.isEmpty() && ranges.of(Family.IPV6).isEmpty()) {
      warn(
          first(Key.ENABLE_IPV6).or(() -> list).or(() -> file),
          "IPv6 is enabled, but nonMasqueradeCIDRs has no IPv6 range: all IPv6 traffic"
              + (config.of(Key.MASQ_LINK_LOCAL_IPV6) ? "" : " but link-local")
              + " is masqueraded, that between pods too",
          "list the IPv6 ranges of pods and nodes, such as \"fd00::/8\"");
    }
    if (ranges.size() > Config.DEFAULT_CIDR_LIMIT && walksRules()) {
      warn(
          list,
          "%d ranges mean %d rules, which iptables checks one by one for each new connection"
              .formatted(ranges.size(), ranges.size()),
          "choose \"backend: nftables\", which looks them up at once, or join ranges");
    }
  }

  private <T> Optional<Place> first(Key<T> key) {
    return given(key).map(Setting::at).findFirst();
  }

  private void warn(Optional<Place> at, String message, String hint) {
    at.ifPresent(place -> problems.warning(place, message, hint));
  }
}
