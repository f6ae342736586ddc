package ipmasq.config;

import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.IpRange;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;

/** Makes one config of the settings of all files. */
final class Assembly {
  private final List<ConfigFile> files;
  private final Base base;
  private final Draft draft;
  private boolean ipv6;

  Assembly(List<ConfigFile> files, Base base) {
    this.files = files;
    this.base = base;
    this.draft = base.config().draft();
  }

  Reading reading() {
    Config was = base.config();
    // IPv6 first: whether it is on decides what the lists may hold.
    ipv6 = one(Key.ENABLE_IPV6, was.enableIpv6());
    draft
        .enableIpv6(ipv6)
        .masqLinkLocal(one(Key.MASQ_LINK_LOCAL, was.masqLinkLocal()))
        .masqLinkLocalIpv6(one(Key.MASQ_LINK_LOCAL_IPV6, was.masqLinkLocalIpv6()))
        .resyncInterval(one(Key.RESYNC_INTERVAL, was.resyncInterval()))
        .randomFully(one(Key.RANDOM_FULLY, was.randomFully()))
        .toPorts(one(Key.TO_PORTS, was.toPorts()))
        .masqChain(one(Key.MASQ_CHAIN, was.masqChain()))
        .backend(one(Key.BACKEND, was.backend()))
        .conntrack(one(Key.CONNTRACK, was.conntrack()))
        .pin(one(Key.PIN, was.pin()))
        .nonMasqueradeCidrs(cidrs(Key.NON_MASQUERADE_CIDRS, was.nonMasqueradeCidrs()))
        .masqueradeCidrs(cidrs(Key.MASQUERADE_CIDRS, was.masqueradeCidrs()))
        .sourceCidrs(cidrs(Key.SOURCE_CIDRS, was.sourceCidrs()))
        .outputInterfaces(list(Key.OUTPUT_INTERFACE, was.outputInterfaces()))
        .outputAddresses(addresses());
    Config config = draft.config();
    new Consistency(files, base, config).check(limit(config));
    return outcome(config);
  }

  private Reading outcome(Config config) {
    List<Problem> all = new ArrayList<>();
    List<Reading.Source> sources = new ArrayList<>();
    boolean anyError = false;
    for (ConfigFile file : files) {
      all.addAll(file.problems().list());
      sources.add(file.source());
      anyError |= file.problems().anyError();
    }
    return anyError ? new Reading.Rejected(all, sources) : new Reading.Read(config, all, sources);
  }

  /** A value that is one for all files. */
  private <T> T one(Key<T> key, T otherwise) {
    T result = otherwise;
    ConfigFile from = null;
    for (ConfigFile file : files) {
      Setting<T> setting = file.setting(key);
      if (setting == null || overruled(setting, file) || setting.value().isEmpty()) {
        continue;
      }
      T value = setting.value().get();
      if (from == null || key.join() == Key.Join.OR && value.equals(true)) {
        result = value;
      } else if (key.join() == Key.Join.AGREE && !value.equals(result)) {
        contradicts(setting, file, from);
      }
      from = from == null ? file : from;
    }
    return result;
  }

  private <T> void contradicts(Setting<T> setting, ConfigFile file, ConfigFile first) {
    Setting<T> other = first.setting(setting.key());
    String place = other == null ? "" : ":" + other.at().line() + ":" + other.at().column();
    file.problems()
        .error(
            setting.at(),
            setting.key() + " contradicts that of " + first.source().path() + place,
            "give it in one file only");
  }

  /** Whether a flag decides instead. */
  private boolean overruled(Setting<?> setting, ConfigFile file) {
    boolean fixed = base.fixed().contains(setting.key());
    if (fixed) {
      file.problems()
          .warning(
              setting.at(),
              setting.key() + " is ignored: the flag --" + setting.key().flag() + " wins",
              "remove the key or the flag");
    }
    return fixed;
  }

  /** The elements of all files in their order; a single file keeps its repetitions. */
  private <T> List<T> list(Key<Listed<T>> key, List<T> otherwise) {
    List<List<T>> lists = new ArrayList<>();
    for (ConfigFile file : files) {
      Setting<Listed<T>> setting = file.setting(key);
      if (setting != null && !overruled(setting, file) && setting.value().isPresent()) {
        lists.add(setting.value().get().values());
      }
    }
    if (lists.size() < 2) {
      return lists.isEmpty() ? otherwise : lists.getFirst();
    }
    Set<T> united = new LinkedHashSet<>();
    lists.forEach(united::addAll);
    return List.copyOf(united);
  }

  private List<Cidr> cidrs(Key<Listed<Cidr>> key, List<Cidr> otherwise) {
    for (ConfigFile file : files) {
      Listed<Cidr> listed = file.listed(key);
      for (int i = 0; i < listed.size() && !ipv6; i++) {
        if (listed.value(i).family() == Family.IPV6) {
          file.problems()
              .error(
                  listed.line(i),
                  listed.column(i),
                  "ipv6 is not enabled, but ipv6 cidr " + listed.value(i) + " provided",
                  "enable it with the flag --enable-ipv6 or with \"enableIPv6: true\"");
        }
      }
    }
    return list(key, otherwise);
  }

  private List<IpRange> addresses() {
    Map<Family, String> places = new HashMap<>();
    Map<Family, IpRange> ranges = new HashMap<>();
    for (ConfigFile file : files) {
      Listed<IpRange> listed = file.listed(Key.OUTPUT_ADDRESS);
      for (int i = 0; i < listed.size(); i++) {
        IpRange range = listed.value(i);
        String place = file.place(listed, i);
        String before = places.putIfAbsent(range.family(), place);
        if (before != null && !range.equals(ranges.get(range.family()))) {
          file.problems()
              .error(
                  listed.line(i),
                  listed.column(i),
                  "outputAddress " + range + " is a second one for " + range.family(),
                  "the first is at " + before + "; write a range to give several addresses");
        }
        if (range.family() == Family.IPV6 && !ipv6) {
          file.problems()
              .error(
                  listed.line(i),
                  listed.column(i),
                  "ipv6 is not enabled, but ipv6 outputAddress " + range + " provided",
                  "enable it with the flag --enable-ipv6 or with \"enableIPv6: true\"");
        }
        ranges.putIfAbsent(range.family(), range);
      }
    }
    List<IpRange> distinct = new ArrayList<>();
    for (Family family : Family.values()) {
      IpRange range = ranges.get(family);
      if (range != null) {
        distinct.add(range);
      }
    }
    return distinct.isEmpty() ? base.config().outputAddresses() : distinct;
  }

  /**
   * The files' own limit, or that of iptables, which walks its rules one by one; it may be that.
   */
  private OptionalLong limit(Config config) {
    Long own = one(Key.CIDR_LIMIT, Long.MAX_VALUE);
    if (own != Long.MAX_VALUE) {
      return OptionalLong.of(own);
    }
    return switch (base.backend(config)) {
      case AUTO, IPTABLES -> OptionalLong.of(Config.DEFAULT_CIDR_LIMIT);
      case NFTABLES, CNI -> OptionalLong.empty();
    };
  }
}
