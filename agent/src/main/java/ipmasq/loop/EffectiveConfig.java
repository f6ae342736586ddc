package ipmasq.loop;

import ipmasq.config.Config;
import ipmasq.config.Problem;
import ipmasq.config.Reading;
import ipmasq.loop.Pass.Basis;
import ipmasq.net.Family;
import java.util.Arrays;
import java.util.List;

/**
 * What the agent stands on: the config that counts, and why that one.
 *
 * @param config the config in force
 * @param basis where that config comes from
 * @param sources the files that it was read from; empty where it is the fallback
 * @param problems what is wrong with the file, errors and warnings
 */
public record EffectiveConfig(
    Config config, Basis basis, List<Reading.SourceFile> sources, List<Problem> problems) {

  public EffectiveConfig {
    sources = List.copyOf(sources);
    problems = List.copyOf(problems);
  }

  /** Before any file was read. */
  static EffectiveConfig fallback(Config config) {
    return new EffectiveConfig(config, Basis.FALLBACK, List.of(), List.of());
  }

  /** What it stands on once this was read: a bad file leaves in force what was. */
  EffectiveConfig after(Reading reading) {
    return switch (reading) {
      case Reading.Read(var read, var warnings, var files, var _) ->
          new EffectiveConfig(read, Basis.FILE, files, warnings);
      case Reading.Rejected(var errors, var _) ->
          new EffectiveConfig(
              config, neverGood() ? Basis.FALLBACK : Basis.LAST_GOOD, sources, errors);
    };
  }

  /** The families that it has rules for. */
  List<Family> families() {
    return Arrays.stream(Family.values()).filter(config::enables).toList();
  }

  /** Whether the rules that it asks for are the same: without a file, an earlier run's may stay. */
  boolean asksTheSameAs(EffectiveConfig other) {
    return config.equals(other.config) && neverGood() == other.neverGood();
  }

  private boolean neverGood() {
    return basis == Basis.FALLBACK;
  }
}
