package ipmasq.loop;

import ipmasq.config.Config;
import ipmasq.config.Problem;
import ipmasq.config.Reading;
import ipmasq.loop.Pass.Basis;
import ipmasq.net.Family;
import java.util.Arrays;
import java.util.List;

/**
 * The config in force, and where it comes from.
 *
 * @param config the config in force
 * @param basis where that config comes from
 * @param sources the files that it was read from; empty if it is the fallback
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

  /** The config in force after this reading: a bad file changes nothing. */
  EffectiveConfig after(Reading reading) {
    return switch (reading) {
      case Reading.Read(var read, var warnings, var files, var _) ->
          new EffectiveConfig(read, Basis.FILE, files, warnings);
      case Reading.Rejected(var errors, var _) ->
          new EffectiveConfig(
              config, neverGood() ? Basis.FALLBACK : Basis.LAST_GOOD, sources, errors);
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
