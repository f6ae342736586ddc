package ipmasq.config;

import java.nio.file.Path;
import java.util.List;

/** Reads config files over a base. */
public final class ConfigReader {
  private ConfigReader() {}

  /** Reads one source; a missing file is the base as it is. */
  public static Reading read(Path source, FlagDefaults base) {
    return read(List.of(source), base);
  }

  /**
   * Reads several sources as one config: files, and directories of {@code ip-masq*} files. Lists
   * are united in the order of the sources; what two files contradict each other in is an error,
   * and so is more than the memory can hold.
   */
  public static Reading read(List<Path> sources, FlagDefaults base) {
    return new ConfigFollower(sources).read(base);
  }
}
