package ipmasq.config;

import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import ipmasq.policy.Translation;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** The policy that a config asks for. */
final class ConfigPolicy {
  private ConfigPolicy() {}

  static Policy of(Config config, Family family) {
    Cidrs sources = config.sourceCidrs().of(family);
    if (sources.isEmpty() && !config.sourceCidrs().isEmpty()) {
      // Sources of the other family only: this family has no traffic to handle.
      return exemptAll(family);
    }
    // Duplicate ranges are written once, unlike in the Go agents.
    Cidrs exempt =
        Cidrs.copyOf(config.masqLinkLocal(family) ? List.of() : List.of(family.linkLocal()))
            .followedBy(config.nonMasqueradeCidrs().of(family));
    Cidrs exceptions = config.masqueradeCidrs().of(family);
    return new Policy(
        family,
        sources,
        config.outputInterfaces(),
        destinations(exempt.distinct(), exceptions.distinct()),
        new Translation(
            config.outputAddresses().stream().filter(range -> range.family() == family).findFirst(),
            config.toPorts(),
            config.randomFully()),
        config.pin());
  }

  private static Policy exemptAll(Family family) {
    return new Policy(
        family,
        List.of(),
        List.of(),
        List.of(new Destination(family.all(), Treatment.EXEMPT)),
        new Translation(Optional.empty(), List.of(), false));
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
}
