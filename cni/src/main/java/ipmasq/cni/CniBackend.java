package ipmasq.cni;

import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.backend.Outcome;
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
 * <p>The network plugin reads the file when a pod starts: pods that run keep what they started
 * with.
 */
public final class CniBackend implements Backend {
  private final Disk disk;
  private final WholeFile whole;
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
    this.whole = new WholeFile(disk);
    this.path = path;
    this.addPolicy = addPolicy;
    this.keepExtra = keepExtra;
  }

  @Override
  public String name() {
    return "cni";
  }

  private Look look() {
    return new Look(Survey.of(disk, path), addPolicy, keepExtra);
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
    return seen.look().form(policy);
  }

  @Override
  public Observation observe(Family family) {
    Look look = look();
    Survey survey = look.survey();
    boolean nothing = survey.files().stream().allMatch(file -> file.lists().isEmpty());
    return nothing && !survey.broken().isEmpty()
        ? new Observation.Unseen(survey.broken().getFirst())
        : new Observation.Seen(look.observed(family).with(remarks(look, family)));
  }

  /** What people should know and no plan can mend, each a phrase. */
  private List<String> remarks(Look look, Family family) {
    List<String> remarks = new ArrayList<>();
    if (look.survey().reach(family, addPolicy) == Survey.Reach.BEYOND) {
      remarks.add(
          "no OutBoundNAT policy in "
              + path
              + " is for "
              + family
              + ": its packets are not translated and its ranges stand nowhere");
    }
    for (Survey.Found found : look.survey().lists(family)) {
      if (keepExtra) {
        found
            .list()
            .strays()
            .forEach(
                stray ->
                    remarks.add(
                        found.file().place(found.list())
                            + " has an entry that is no CIDR and is kept: "
                            + stray.raw()));
      }
    }
    return remarks;
  }

  /**
   * Each file is written in one atomic step. Of several files those that can be written are, and
   * what stopped the others is said.
   */
  @Override
  public Outcome apply(Plan plan) {
    if (!(plan.observed() instanceof CniObserved observed)) {
      throw new IllegalArgumentException("a plan made from another backend's observation");
    }
    if (plan.isEmpty()) {
      return new Outcome.Applied();
    }
    Look look = look();
    Survey survey = look.survey();
    if (!look.observed(observed.family()).held().equals(observed.held())) {
      return new Outcome.Raced("the CNI config changed since it was read");
    }
    List<Failure> failures =
        plan.desired().isPresent()
            ? write(survey, plan.desired().get())
            : restore(survey, observed.family());
    failures.addAll(survey.broken());
    return failures.isEmpty() ? new Outcome.Applied() : new Outcome.Refused(failures.getFirst());
  }

  private List<Failure> write(Survey survey, Policy desired) {
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
      // Whatever the plan says: somebody may have added one since the policy was formed.
      wanted.addAll(survey.extras(family));
    }
    Writing writing = new Writing(whole, family, wanted, keepExtra);
    switch (survey.reach(family, addPolicy)) {
      case HELD -> survey.files().forEach(f -> writing.lists(f).ifPresent(failures::add));
      case MISSING -> add(survey, writing).ifPresent(failures::add);
      case BEYOND -> {}
    }
    return failures;
  }

  private Optional<Failure> add(Survey survey, Writing writing) {
    if (!addPolicy) {
      return Optional.of(
          new Failure(
              "there is no OutBoundNAT policy in " + path,
              "--cni-add-policy lets the agent add it"));
    }
    return survey
        .candidate()
        .map(writing::addition)
        .orElseGet(
            () ->
                Optional.of(
                    new Failure(
                        path
                            + " has "
                            + survey.files().size()
                            + " CNI configs and none has an"
                            + " OutBoundNAT policy",
                        "name the one to add it to with --cni-config")));
  }

  private List<Failure> restore(Survey survey, Family family) {
    List<Failure> failures = new ArrayList<>();
    Restoring restoring = new Restoring(whole, family, keepExtra);
    survey.files().forEach(file -> restoring.lists(file).ifPresent(failures::add));
    return failures;
  }

  /** What an exception list has no words for. */
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
