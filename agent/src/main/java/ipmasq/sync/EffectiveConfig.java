package ipmasq.sync;

import ipmasq.config.Config;
import ipmasq.config.FileSnapshot;
import ipmasq.config.Problem;
import ipmasq.config.Reading;
import ipmasq.net.Family;
import ipmasq.policy.Policy;
import ipmasq.sync.SyncReport.Basis;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * The config in force, and where it comes from.
 *
 * @param config the config in force
 * @param basis where that config comes from
 * @param sources the files that it was read from; empty if it is the fallback
 * @param problems what is wrong with the file, errors and warnings
 * @param kept policies of an earlier run that stay in force instead, as long as the file was never
 *     good
 * @param gap how that config falls short of its files
 */
public record EffectiveConfig(
    Config config,
    Basis basis,
    List<FileSnapshot> sources,
    List<Problem> problems,
    Map<Family, Policy> kept,
    Reading.Gap gap) {

  public EffectiveConfig {
    sources = List.copyOf(sources);
    problems = List.copyOf(problems);
    kept = Map.copyOf(kept);
  }

  public EffectiveConfig(
      Config config, Basis basis, List<FileSnapshot> sources, List<Problem> problems) {
    this(config, basis, sources, problems, Map.of(), Reading.Gap.NONE);
  }

  /** The same with the policies that stay in force instead. */
  EffectiveConfig keeping(Map<Family, Policy> policies) {
    return neverGood()
        ? new EffectiveConfig(config, basis, sources, problems, policies, gap)
        : this;
  }

  /** Whether rules of an earlier run, other than the config's, stay in force. */
  public boolean keepsEarlierRules() {
    return kept.values().stream().anyMatch(p -> !p.equals(config.policy(p.family())));
  }

  /** The policy in force. */
  Policy policy(Family family) {
    Policy earlier = kept.get(family);
    return earlier == null ? config.policy(family) : earlier;
  }

  /** Before any file was read. */
  static EffectiveConfig fallback(Config config) {
    return new EffectiveConfig(config, Basis.FALLBACK, List.of(), List.of());
  }

  /** The config in force after this reading: a bad file changes nothing. */
  EffectiveConfig after(Reading reading) {
    return switch (reading) {
      case Reading.Read(var read, var warnings, var files, var _, var missing) ->
          new EffectiveConfig(read, Basis.FILE, files, warnings, Map.of(), missing);
      case Reading.Rejected(var errors, var _) ->
          new EffectiveConfig(
              config,
              neverGood() ? Basis.FALLBACK : Basis.LAST_GOOD,
              sources,
              errors,
              Map.of(),
              gap);
    };
  }

  /** The families with rules. */
  List<Family> families() {
    return Arrays.stream(Family.values()).filter(config::enables).toList();
  }

  /** Whether it asks for the same rules: without a good file, those of an earlier run may stay. */
  boolean asksTheSameAs(EffectiveConfig other) {
    return config.equals(other.config) && neverGood() == other.neverGood();
  }

  private boolean neverGood() {
    return basis == Basis.FALLBACK;
  }
}
