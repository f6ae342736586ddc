package ipmasq.config;

import java.nio.file.Path;
import java.util.List;

/** Makes a config from files. */
public final class ConfigReader {
  private ConfigReader() {}

  /** Reads a file or a directory once; a missing file is the flags' defaults as they are. */
  public static Reading read(Path path, FlagDefaults flags) {
    return read(new ConfigPaths(List.of(path), ConfigPaths.IfMissing.DEFAULTS), flags);
  }

  /**
   * Reads several paths as one config, once: files, and directories of {@code ip-masq*} files.
   * Lists are united in the order of the paths; contradictions between files are an error.
   */
  public static Reading read(ConfigPaths paths, FlagDefaults flags) {
    return read(paths.read(), flags);
  }

  /** Parses files that were read before. Pure. */
  public static Reading read(List<FileSnapshot> files, FlagDefaults flags) {
    return ConfigMerge.of(files.stream().map(ConfigFile::of).toList(), flags);
  }
}
