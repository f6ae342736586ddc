package ipmasq.config;

import ipmasq.config.Config.BackendChoice;
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

/** Makes one config of the settings of all files, and checks what no single key can show. */
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
    warnOfEmptyLists(config);
    requireDistinct();
    requireWithinLimit(config);
    requireSupport(config);
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

  private void warnOfEmptyLists(Config config) {
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

  private void warnAt(Key<?> key, String message, String hint) {
    for (ConfigFile file : files) {
      Setting<?> setting = file.settings().get(key);
      // A list that is empty because its elements are bad has been reported already.
      if (setting != null && !setting.problems().anyError()) {
        file.problems().warning(setting.at(), message, hint);
      }
    }
  }

  /** The same prefix cannot be exempt and masqueraded at once. */
  private void requireDistinct() {
    Map<Cidr, String> exceptions = new HashMap<>();
    for (ConfigFile file : files) {
      Listed<Cidr> listed = file.listed(Key.MASQUERADE_CIDRS);
      for (int i = 0; i < listed.size(); i++) {
        exceptions.putIfAbsent(listed.value(i), file.place(listed, i));
      }
    }
    if (exceptions.isEmpty()) {
      return;
    }
    boolean given = false;
    for (ConfigFile file : files) {
      given |= file.settings().containsKey(Key.NON_MASQUERADE_CIDRS);
      Listed<Cidr> listed = file.listed(Key.NON_MASQUERADE_CIDRS);
      for (int i = 0; i < listed.size(); i++) {
        String other = exceptions.get(listed.value(i));
        if (other != null) {
          inBoth(file, listed.line(i), listed.column(i), listed.value(i), other);
        }
      }
    }
    for (Cidr cidr : given ? List.<Cidr>of() : base.config().nonMasqueradeCidrs()) {
      String other = exceptions.get(cidr);
      if (other != null) {
        inBoth(files.getFirst(), 0, 0, cidr, other);
      }
    }
  }

  private static void inBoth(ConfigFile file, int line, int column, Cidr cidr, String other) {
    file.problems()
        .error(
            line,
            column,
            cidr + " is in nonMasqueradeCIDRs and, at " + other + ", in masqueradeCIDRs too",
            "remove it from one of the two lists");
  }

  private void requireWithinLimit(Config config) {
    int count = config.nonMasqueradeCidrs().size();
    OptionalLong limit = limit(config);
    if (limit.isEmpty() || count <= limit.getAsLong()) {
      return;
    }
    ConfigFile file = files.getFirst();
    Setting<?> at = null;
    for (Key<?> key : List.of(Key.CIDR_LIMIT, Key.NON_MASQUERADE_CIDRS)) {
      for (ConfigFile candidate : files) {
        Setting<?> setting = candidate.settings().get(key);
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
                + limit.getAsLong()
                + " CIDRs (excluding link-local), but got "
                + count
                + " CIDRs (excluding link local)",
            "raise cidrLimit, or join ranges");
  }

  /** The files' own limit, or that of the backend they choose, or the base's. */
  private OptionalLong limit(Config config) {
    Long own = one(Key.CIDR_LIMIT, Long.MAX_VALUE);
    if (own != Long.MAX_VALUE) {
      return OptionalLong.of(own);
    }
    boolean chosen = config.backend() != base.config().backend();
    if (chosen && config.backend() == BackendChoice.NFTABLES) {
      return OptionalLong.empty();
    }
    if (chosen && config.backend() == BackendChoice.IPTABLES) {
      return OptionalLong.of(Config.DEFAULT_CIDR_LIMIT);
    }
    return base.cidrLimit().isPresent()
        ? OptionalLong.of(base.cidrLimit().getAsInt())
        : OptionalLong.empty();
  }

  private void requireSupport(Config config) {
    for (Key<?> key : Support.missing(config, config.backend())) {
      for (ConfigFile file : files) {
        Setting<?> setting = file.settings().get(key);
        if (setting != null) {
          file.problems()
              .error(
                  setting.at(),
                  key + " is not possible with the backend " + Support.name(config.backend()),
                  "remove it, or choose another backend");
        }
      }
    }
  }
}
