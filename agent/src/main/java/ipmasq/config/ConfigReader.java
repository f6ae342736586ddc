package ipmasq.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads config files over a base. */
public final class ConfigReader {
  private ConfigReader() {}

  /** Reads one file; a missing one is the base as it is. */
  public static Reading read(Path file, Base base) {
    return read(List.of(file), base);
  }

  /** Reads several sources as one config: files, and directories of {@code ip-masq*} files. */
  public static Reading read(List<Path> sources, Base base) {
    List<ConfigFile> files = new ArrayList<>();
    for (Path path : sources) {
      files.add(ConfigFile.read(path));
    }
    return new Assembly(files, base).reading();
  }
}
