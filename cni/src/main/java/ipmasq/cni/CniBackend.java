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
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Keeps the exception lists in CNI configs. Used by one thread.
 *
 * <p>The network plugin reads the file when a pod starts: running pods keep what they started with.
 */
public final class CniBackend implements Backend {
  private final Disk disk;
  private final AtomicFile atomic;
  private final Path path;
  private final boolean addPolicy;
  private final boolean keepExtra;

  /**
   * A backend for the configs at a path.
   *
   * @param path a config, or a directory of them
   * @param addPolicy whether a missing OutBoundNAT policy is added
   * @param keepExtra whether entries that people put into a list stay there
   */
  public CniBackend(Path path, boolean addPolicy, boolean keepExtra) {
    this(new RealDisk(), path, addPolicy, keepExtra);
  }

  CniBackend(Disk disk, Path path, boolean addPolicy, boolean keepExtra) {
    this.disk = disk;
    this.atomic = new AtomicFile(disk);
    this.path = path;
    this.addPolicy = addPolicy;
    this.keepExtra = keepExtra;
  }

  @Override
  public String name() {
    return "cni";
  }

  /** Tells cheaply whether the configs changed. */
  public Watch watch() {
    return new CniWatch(disk, path);
  }

  private PolicyMapping mapping() {
    return new PolicyMapping(CniFiles.of(disk, path), addPolicy, keepExtra);
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
    return seen.mapping().normalize(policy);
  }

  @Override
  public Observation observe(Family family) {
    PolicyMapping mapping = mapping();
    CniFiles files = mapping.files();
    boolean nothing = files.all().stream().allMatch(file -> file.lists().isEmpty());
    return nothing && !files.broken().isEmpty()
        ? new Observation.Unseen(files.broken().getFirst())
        : new Observation.Seen(mapping.observed(family).with(remarks(mapping, family)));
  }

  /** What people should know and no plan can change, each a phrase. */
  private List<String> remarks(PolicyMapping mapping, Family family) {
    List<String> remarks = new ArrayList<>();
    if (mapping.files().coverage(family, addPolicy) == CniFiles.Coverage.NOT_NEEDED) {
      remarks.add(
          "no OutBoundNAT policy in "
              + path
              + " is for "
              + family
              + ": its packets are not translated and its ranges stand nowhere");
    }
    for (CniFiles.ListInFile found : mapping.files().lists(family)) {
      if (keepExtra) {
        found
            .list()
            .invalid()
            .forEach(
                entry ->
                    remarks.add(
                        found.file().place(found.list())
                            + " has an entry that is no CIDR and is kept: "
                            + entry.raw()));
      }
    }
    return remarks;
  }

  /**
   * Each file is written in one atomic step. If only some files can be written, those are, and the
   * failure says why the others are not.
   */
  @Override
  public Outcome apply(Plan plan) {
    if (!(plan.observed() instanceof CniObserved observed)) {
      throw new IllegalArgumentException("a plan made from another backend's observation");
    }
    if (plan.isEmpty()) {
      return new Outcome.Applied();
    }
    PolicyMapping mapping = mapping();
    CniFiles files = mapping.files();
    if (!mapping.observed(observed.family()).contents().equals(observed.contents())) {
      return new Outcome.Retry("the CNI config changed since it was read");
    }
    List<Failure> failures =
        plan.desired().isPresent()
            ? write(files, plan.desired().get())
            : restore(files, observed.family());
    failures.addAll(files.broken());
    return failures.isEmpty() ? new Outcome.Applied() : new Outcome.Refused(failures.getFirst());
  }

  private List<Failure> write(CniFiles files, Policy desired) {
    List<Failure> failures = new ArrayList<>();
    Optional<Failure> inexpressible = inexpressible(desired);
    if (inexpressible.isPresent()) {
      failures.add(inexpressible.get());
      return failures;
    }
    Family family = desired.family();
    Set<Cidr> wanted = new LinkedHashSet<>();
    desired.destinations().forEach(destination -> wanted.add(destination.range()));
    if (keepExtra) {
      // Regardless of the plan: one may have been added since it was made.
      wanted.addAll(files.extras(family));
    }
    ListWriter writer = new ListWriter(atomic, family, wanted, keepExtra);
    switch (files.coverage(family, addPolicy)) {
      case PRESENT -> files.all().forEach(f -> writer.write(f).ifPresent(failures::add));
      case MISSING -> add(files, writer).ifPresent(failures::add);
      case NOT_NEEDED -> {}
    }
    return failures;
  }

  private Optional<Failure> add(CniFiles files, ListWriter writer) {
    if (!addPolicy) {
      return Optional.of(
          new Failure(
              "there is no OutBoundNAT policy in " + path,
              "--cni-add-policy lets the agent add it"));
    }
    return files
        .candidate()
        .map(writer::add)
        .orElseGet(
            () ->
                Optional.of(
                    new Failure(
                        path
                            + " has "
                            + files.all().size()
                            + " CNI configs and none has an"
                            + " OutBoundNAT policy",
                        "name the one to add it to with --cni-config")));
  }

  private List<Failure> restore(CniFiles files, Family family) {
    List<Failure> failures = new ArrayList<>();
    ListRestorer restorer = new ListRestorer(atomic, family, keepExtra);
    files.all().forEach(file -> restorer.restore(file).ifPresent(failures::add));
    return failures;
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
}
