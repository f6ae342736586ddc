package ipmasq.config;

import ipmasq.config.Config.BackendChoice;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** What no single key can show: whether the keys of all files make sense together. */
final class Consistency {
  private final List<ConfigFile> files;
  private final Base base;
  private final Config config;

  Consistency(List<ConfigFile> files, Base base, Config config) {
    this.files = files;
    this.base = base;
    this.config = config;
  }

  /** Reports to the files what is wrong with them. */
  void check(OptionalLong limit) {
    warnOfEmptyLists();
    requireDistinct();
    if (limit.isPresent()) {
      requireWithin(limit.getAsLong());
    }
    requireSupport();
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

  private void warnAt(Key<?> key, String message, String hint) {
    for (ConfigFile file : files) {
      Setting<?> setting = file.settings().get(key);
      // A list that is empty because its elements are bad has been reported already.
      if (setting != null && !setting.problems().anyError()) {
        file.problems().warning(setting.at(), message, hint);
      }
    }
  }

  /** An element of a list. */
  private record Place(ConfigFile file, int line, int column) {
    void error(String message, String hint) {
      file.problems().error(line, column, message, hint);
    }

    @Override
    public String toString() {
      return file.source().path() + ":" + line + ":" + column;
    }
  }

  /** The same prefix cannot be exempt and masqueraded at once. */
  private void requireDistinct() {
    Map<Cidr, Place> exceptions = new HashMap<>();
    for (ConfigFile file : files) {
      Listed<Cidr> listed = file.listed(Key.MASQUERADE_CIDRS);
      for (int i = 0; i < listed.size(); i++) {
        Place place = new Place(file, listed.line(i), listed.column(i));
        exceptions.putIfAbsent(listed.value(i), place);
      }
    }
    if (exceptions.isEmpty()) {
      return;
    }
    requireNotLinkLocal(exceptions);
    boolean given = false;
    for (ConfigFile file : files) {
      given |= file.settings().containsKey(Key.NON_MASQUERADE_CIDRS);
      Listed<Cidr> listed = file.listed(Key.NON_MASQUERADE_CIDRS);
      for (int i = 0; i < listed.size(); i++) {
        Place exception = exceptions.get(listed.value(i));
        if (exception != null) {
          exception.error(
              listed.value(i)
                  + " is in masqueradeCIDRs and, at "
                  + new Place(file, listed.line(i), listed.column(i))
                  + ", in nonMasqueradeCIDRs too",
              "remove it from one of the two lists");
        }
      }
    }
    for (Cidr cidr : given ? List.<Cidr>of() : base.config().nonMasqueradeCidrs()) {
      Place exception = exceptions.get(cidr);
      if (exception != null) {
        exception.error(
            cidr + " is in masqueradeCIDRs and by default in nonMasqueradeCIDRs too",
            "give nonMasqueradeCIDRs without it");
      }
    }
  }

  private void requireNotLinkLocal(Map<Cidr, Place> exceptions) {
    for (Family family : Family.values()) {
      boolean exempt =
          switch (family) {
            case IPV4 -> !config.masqLinkLocal();
            case IPV6 -> !config.masqLinkLocalIpv6();
          };
      Place exception = exceptions.get(family.linkLocal());
      if (exempt && exception != null) {
        Key<?> key = family == Family.IPV4 ? Key.MASQ_LINK_LOCAL : Key.MASQ_LINK_LOCAL_IPV6;
        exception.error(
            family.linkLocal() + " is in masqueradeCIDRs, but link-local is exempt",
            "write \"" + key + ": true\" instead");
      }
    }
  }

  private void requireWithin(long limit) {
    int count = config.nonMasqueradeCidrs().size();
    if (count <= limit) {
      return;
    }
    ConfigFile file = files.getFirst();
    @Nullable Setting<?> at = null;
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
                + limit
                + " CIDRs (excluding link-local), but got "
                + count
                + " CIDRs (excluding link local)",
            "raise cidrLimit, or join ranges");
  }

  private void requireSupport() {
    BackendChoice backend = base.backend(config);
    for (Key<?> key : Support.missing(config, backend)) {
      for (ConfigFile file : files) {
        Setting<?> setting = file.settings().get(key);
        if (setting != null) {
          file.problems()
              .error(
                  setting.at(),
                  key + " is not possible with the backend " + Support.name(backend),
                  "remove it, or choose another backend");
        }
      }
    }
  }
}
