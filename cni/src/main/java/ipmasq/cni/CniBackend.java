package ipmasq.cni;

import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.backend.Outcome;
import ipmasq.backend.Watch;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.plan.Observed;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import ipmasq.policy.Translation;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Keeps the exception list in a CNI config. Used by one thread.
 *
 * <p>The network plugin reads the file when a pod starts: running pods keep what they started with.
 */
public final class CniBackend implements Backend {
  private final AtomicFile atomic;
  private final Path path;
  private final boolean keepExtra;

  /**
   * @param path a config, or a directory: then the first config that has an OutBoundNAT policy
   * @param keepExtra whether entries that people put into the list stay there
   */
  public CniBackend(Path path, boolean keepExtra) {
    this(new Disk(), path, keepExtra);
  }

  CniBackend(Disk disk, Path path, boolean keepExtra) {
    this.atomic = new AtomicFile(disk);
    this.path = path;
    this.keepExtra = keepExtra;
  }

  @Override
  public String name() {
    return "cni";
  }

  /** Tells cheaply whether the configs changed. */
  public Watch watch() {
    return new CniWatch(path);
  }

  @Override
  public Observation observe(Family family) {
    CniConfig.Found found = CniConfig.find(path);
    return found.config().isEmpty() && !found.broken().isEmpty()
        ? new Observation.Unseen(found.broken().getFirst())
        : new Observation.Seen(observed(found, family));
  }

  private CniObserved observed(CniConfig.Found found, Family family) {
    List<String> flaws = new ArrayList<>();
    List<String> remarks = new ArrayList<>();
    Optional<Policy> policy = Optional.empty();
    Optional<ExceptionList> list = found.config().flatMap(config -> config.list(family));
    if (found.config().isEmpty()) {
      flaws.add("there is no OutBoundNAT policy");
    } else if (list.isEmpty()) {
      policy = Optional.of(untranslated(family));
      remarks.add(
          "no OutBoundNAT policy in "
              + path
              + " is for "
              + family
              + ": its packets are not translated, and its ranges are in no list");
    } else {
      policy = Optional.of(exempting(family, list.get().blocks(family)));
      String place = found.config().get().place(list.get());
      for (String entry : list.get().invalid()) {
        String kept = keepExtra ? " and is kept: " : ": ";
        (keepExtra ? remarks : flaws).add(place + " has an entry that is no CIDR" + kept + entry);
      }
    }
    if (found.config().isEmpty() || list.isPresent()) {
      found.broken().forEach(failure -> flaws.add(failure.message()));
    }
    boolean absent = found.config().map(config -> config.untouched(family)).orElse(true);
    return new CniObserved(family, policy, flaws, absent, found.config(), remarks);
  }

  /**
   * Only ranges that are exempt, exceptions carved out of them; with {@code keepExtra} also those
   * that people added. For a family that no policy translates: everything exempt.
   */
  @Override
  public Policy normalize(Policy policy, Observed observed) {
    if (!(observed instanceof CniObserved seen)) {
      throw new IllegalArgumentException("another backend's observation");
    }
    Family family = policy.family();
    if (seen.config().isPresent() && seen.list().isEmpty()) {
      return untranslated(family);
    }
    Set<Cidr> blocks = new LinkedHashSet<>();
    boolean plain = policy.destinations().stream().allMatch(d -> d.treatment() == Treatment.EXEMPT);
    if (plain) {
      policy.destinations().forEach(destination -> blocks.add(destination.range()));
    } else {
      blocks.addAll(policy.exempt());
    }
    if (keepExtra) {
      seen.config().ifPresent(config -> blocks.addAll(config.extras(family)));
    }
    // The order has no meaning here, so a different order is no reason to write.
    Set<Cidr> listed = seen.list().map(list -> list.blocks(family)).orElse(blocks);
    return new Policy(
        family,
        policy.sources(),
        policy.interfaces(),
        exempting(family, listed.equals(blocks) ? listed : blocks).destinations(),
        new Translation(policy.translation().addresses(), policy.translation().ports(), false));
  }

  /** What OutBoundNAT does to a packet; the file has no say in how. */
  private static Policy exempting(Family family, Collection<Cidr> blocks) {
    return new Policy(
        family,
        List.of(),
        List.of(),
        blocks.stream().map(cidr -> new Destination(cidr, Treatment.EXEMPT)).toList(),
        new Translation(Optional.empty(), List.of(), false));
  }

  /** Without an OutBoundNAT policy for a family all its packets keep their source. */
  private static Policy untranslated(Family family) {
    return exempting(family, List.of(family.all()));
  }

  @Override
  public Outcome apply(Plan plan) {
    if (!(plan.observed() instanceof CniObserved observed)) {
      throw new IllegalArgumentException("a plan made from another backend's observation");
    }
    if (plan.isEmpty()) {
      return new Outcome.Applied();
    }
    CniConfig.Found found = CniConfig.find(path);
    if (!observed(found, observed.family()).matches(observed)) {
      return new Outcome.Retry("the CNI config changed since it was read");
    }
    Optional<Failure> failure =
        plan.desired().isPresent()
            ? write(found, plan.desired().get())
            : found.config().flatMap(config -> writer(config, observed.family()).restore());
    return failure
        .or(() -> found.broken().stream().findFirst())
        .<Outcome>map(Outcome.Refused::new)
        .orElseGet(Outcome.Applied::new);
  }

  private CniWriter writer(CniConfig config, Family family) {
    return new CniWriter(atomic, config, family, keepExtra);
  }

  private Optional<Failure> write(CniConfig.Found found, Policy desired) {
    Family family = desired.family();
    Optional<Failure> inexpressible = inexpressible(desired);
    if (inexpressible.isPresent()) {
      return inexpressible;
    }
    if (found.config().isEmpty()) {
      return Optional.of(
          new Failure(
              "there is no OutBoundNAT policy in " + path,
              "add one with an empty ExceptionList to the network plugin's config"));
    }
    CniConfig config = found.config().get();
    if (config.list(family).isEmpty()) {
      return Optional.empty();
    }
    Set<Cidr> blocks = new LinkedHashSet<>();
    desired.destinations().forEach(destination -> blocks.add(destination.range()));
    if (keepExtra) {
      // Regardless of the plan: one may have been added since it was made.
      blocks.addAll(config.extras(family));
    }
    return writer(config, family).write(blocks);
  }

  /** What an exception list cannot express. */
  private static Optional<Failure> inexpressible(Policy desired) {
    List<String> parts = new ArrayList<>();
    if (!desired.sources().isEmpty()) {
      parts.add("sourceCIDRs");
    }
    if (!desired.interfaces().isEmpty()) {
      parts.add("output interfaces");
    }
    if (desired.translation().addresses().isPresent()) {
      parts.add("an output address");
    }
    if (!desired.translation().ports().isEmpty()) {
      parts.add("--to-ports");
    }
    return parts.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new Failure(
                "an OutBoundNAT policy cannot hold " + String.join(", ", parts),
                "leave that out of the config of Windows nodes"));
  }

  /**
   * What the config held of one family.
   *
   * @param config the file as it was read; empty if none has an OutBoundNAT policy
   */
  private record CniObserved(
      Family family,
      Optional<Policy> policy,
      List<String> flaws,
      boolean absent,
      Optional<CniConfig> config,
      List<String> remarks)
      implements Observed {
    CniObserved {
      flaws = List.copyOf(flaws);
      remarks = List.copyOf(remarks);
    }

    /** Whether another look found the same of this family. */
    boolean matches(CniObserved other) {
      return config.map(CniConfig::path).equals(other.config.map(CniConfig::path))
          && policy.equals(other.policy)
          && list().map(ExceptionList::invalid).equals(other.list().map(ExceptionList::invalid));
    }

    Optional<ExceptionList> list() {
      return config.flatMap(file -> file.list(family));
    }
  }
}
