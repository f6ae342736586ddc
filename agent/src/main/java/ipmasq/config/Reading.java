package ipmasq.config;

import ipmasq.config.Problem.Place;
import java.util.List;
import java.util.Map;

/** The result of reading the config. */
public sealed interface Reading {
  /** The files that were read, or tried. */
  List<FileSnapshot> sources();

  /**
   * A config that can be put in force, with its warnings.
   *
   * @param places where the files set a value that is in effect; keys without one are missing
   * @param gap what the files say that is not in the config
   */
  record Read(
      Config config,
      List<Problem> warnings,
      List<FileSnapshot> sources,
      Map<Key<?>, List<Place>> places,
      Gap gap)
      implements Reading {
    public Read {
      warnings = List.copyOf(warnings);
      sources = List.copyOf(sources);
      places = Map.copyOf(places);
    }

    /** A config without the places of its values. */
    public Read(Config config, List<Problem> warnings, List<FileSnapshot> sources) {
      this(config, warnings, sources, Map.of(), Gap.NONE);
    }
  }

  /** Errors, perhaps with warnings: the config in force stays in force. */
  record Rejected(List<Problem> problems, List<FileSnapshot> sources) implements Reading {
    public Rejected {
      problems = List.copyOf(problems);
      sources = List.copyOf(sources);
    }
  }

  /**
   * How a config that is in force falls short of its files.
   *
   * @param ignoredKeys how many of their keys are ignored
   * @param phrase in words: {@code 2 keys of the file were ignored: the default list applies};
   *     empty if the files are followed in full
   */
  record Gap(int ignoredKeys, String phrase) {
    public static final Gap NONE = new Gap(0, "");

    public boolean isNone() {
      return phrase.isEmpty();
    }
  }
}
