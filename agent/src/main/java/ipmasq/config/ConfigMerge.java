package ipmasq.config;

import ipmasq.config.Reading.Place;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Merges the settings of all files into one config. */
final class ConfigMerge {
  private final List<ConfigFile> files;
  private final FlagDefaults flags;
  private final Map<Key<?>, List<Place>> places = new LinkedHashMap<>();

  private ConfigMerge(List<ConfigFile> files, FlagDefaults flags) {
    this.files = files;
    this.flags = flags;
  }

  static Reading of(List<ConfigFile> files, FlagDefaults flags) {
    ConfigMerge merge = new ConfigMerge(files, flags);
    Config config = flags.config();
    for (Key<?> key : Key.ALL) {
      config = merge.with(key, config);
    }
    new ConfigChecks(files, flags, config).check();
    return merge.outcome(config);
  }

  private Reading outcome(Config config) {
    List<Problem> all = new ArrayList<>();
    List<Reading.SourceFile> sources = new ArrayList<>();
    boolean anyError = false;
    for (ConfigFile file : files) {
      Problems problems = file.problems();
      Reading.Gap gap = gap(problems.ignoredKeys(), problems.ignoredDocuments());
      if (config.strict() && !gap.isNone()) {
        problems.error(
            0,
            0,
            gap.phrase()
                    .replace(": the default list applies", "")
                    .replaceAll("(was|were) ignored", "would be ignored")
                + ", which strict forbids",
            "correct or remove it, or switch strict off");
      }
      all.addAll(problems.list());
      sources.add(file.source());
      anyError |= problems.anyError();
    }
    return anyError
        ? new Reading.Rejected(all, sources)
        : new Reading.Read(config, all, sources, places, gap());
  }

  private Reading.Gap gap() {
    return gap(
        files.stream().mapToInt(file -> file.problems().ignoredKeys()).sum(),
        files.stream().anyMatch(file -> file.problems().ignoredDocuments()));
  }

  private Reading.Gap gap(int keys, boolean documents) {
    List<String> ignored = new ArrayList<>();
    if (keys > 0) {
      ignored.add(
          keys == 1 ? "1 key of the file was ignored" : keys + " keys of the file were ignored");
    }
    if (documents) {
      ignored.add("all but the first document of the file was ignored");
    }
    boolean byDefault = !places.containsKey(Key.NON_MASQUERADE_CIDRS);
    return new Reading.Gap(
        keys,
        String.join(", ", ignored)
            + (!ignored.isEmpty() && byDefault ? ": the default list applies" : ""));
  }

  /** The config with the files' value for a key. */
  private <T> Config with(Key<T> key, Config before) {
    Optional<T> value = Optional.empty();
    Optional<ConfigFile> first = Optional.empty();
    for (ConfigFile file : files) {
      Setting<T> setting = file.setting(key);
      if (setting == null || overruled(setting, file) || setting.value().isEmpty()) {
        continue;
      }
      places
          .computeIfAbsent(key, _ -> new ArrayList<>())
          .add(new Place(file.source().path().toString(), setting.at().line()));
      if (value.isEmpty()) {
        value = setting.value();
        first = Optional.of(file);
        continue;
      }
      Optional<T> both = key.merge().merge(value.get(), setting.value().get());
      if (both.isEmpty()) {
        contradicts(setting, file, first.orElseThrow());
      } else {
        value = both;
      }
    }
    return value.isEmpty() ? before : before.with(key, value.get());
  }

  private static <T> void contradicts(Setting<T> setting, ConfigFile file, ConfigFile first) {
    Setting<T> other = first.setting(setting.key());
    String place = other == null ? "" : ":" + other.at().place();
    file.problems()
        .error(
            setting.at(),
            setting.key() + " contradicts that of " + first.source().path() + place,
            "give it in one file only");
  }

  /** Whether a flag decides instead. */
  private boolean overruled(Setting<?> setting, ConfigFile file) {
    boolean fixed = flags.fixed().contains(setting.key());
    if (fixed) {
      file.problems()
          .warning(
              setting.at(),
              setting.key()
                  + " is ignored: the flag --"
                  + setting.key().flag().orElseThrow().name()
                  + " wins",
              "remove the key or the flag");
    }
    return fixed;
  }
}
