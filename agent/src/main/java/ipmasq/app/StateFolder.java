package ipmasq.app;

import ipmasq.config.Config;
import ipmasq.config.ConfigReader;
import ipmasq.config.FlagDefaults;
import ipmasq.config.Key;
import ipmasq.config.Reading;
import ipmasq.evidence.flows.Answers;
import ipmasq.json.Json;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A folder that outlives the process, with what a later one needs: the last good config, the share
 * of answered flows under it, and which file was rolled back. It is used if it is there, and never
 * made: where the manifest does not mount it, nothing is left on the node.
 */
public final class StateFolder {
  /** Older figures say nothing about what a new config changes. */
  private static final Duration FRESH = Duration.ofHours(1);

  private static final String CONFIG = "last-good-config.json";
  private static final String ANSWERS = "answers";
  private static final String ROLLED_BACK = "rolled-back";

  private final Path folder;
  private final boolean writes;
  private final Supplier<FlagDefaults> node;

  /**
   * @param writes whether anything may be kept; a dry run only reads what the real agent keeps
   * @param node what an {@code auto} in the config means here; no other flags, since the config has
   *     them already
   */
  public StateFolder(Path folder, boolean writes, Supplier<FlagDefaults> node) {
    this.folder = folder;
    this.writes = writes;
    this.node = node;
  }

  /**
   * A file that was rolled back.
   *
   * @param hash of its content
   * @param why a sentence without its full stop
   */
  record RolledBack(String hash, String why) {}

  /** Why nothing can be kept here; empty if it can. */
  Optional<String> unusable() {
    return !Files.isDirectory(folder)
        ? Optional.of(folder + " does not exist")
        : Files.isWritable(folder) ? Optional.empty() : Optional.of(folder + " is not writable");
  }

  Optional<Reading.Read> config() {
    Path file = folder.resolve(CONFIG);
    return Files.exists(file) && ConfigReader.read(file, node.get()) instanceof Reading.Read read
        ? Optional.of(read)
        : Optional.empty();
  }

  void config(Config config) throws IOException {
    Map<String, Object> keys = new LinkedHashMap<>();
    Key.ALL.forEach(key -> put(keys, key, config));
    write(CONFIG, Json.write(keys));
  }

  private static <T> void put(Map<String, Object> keys, Key<T> key, Config config) {
    Object value = key.json(config.of(key));
    if (!value.equals("")) {
      keys.put(key.name(), value);
    }
  }

  /** The figures, if they are not too old. */
  Answers answers() {
    Path file = folder.resolve(ANSWERS);
    try {
      Instant written = Files.getLastModifiedTime(file).toInstant();
      return Answers.parse(
          written.plus(FRESH).isAfter(Instant.now()) ? Files.readAllLines(file) : List.of());
    } catch (IOException none) {
      return new Answers();
    }
  }

  void answers(Answers answers) throws IOException {
    write(ANSWERS, String.join("\n", answers.lines()));
  }

  Optional<RolledBack> rolledBack() {
    try {
      List<String> lines = Files.readAllLines(folder.resolve(ROLLED_BACK));
      return Optional.of(new RolledBack(lines.getFirst(), lines.getLast()));
    } catch (IOException | NoSuchElementException none) {
      return Optional.empty();
    }
  }

  void rolledBack(RolledBack file) throws IOException {
    write(ROLLED_BACK, file.hash + "\n" + file.why);
  }

  void tryAgain() throws IOException {
    if (writes) {
      Files.deleteIfExists(folder.resolve(ROLLED_BACK));
    }
  }

  /** All of it or nothing, also if the node loses power. */
  private void write(String name, String text) throws IOException {
    if (!writes) {
      return;
    }
    Path next = folder.resolve(name + ".new");
    Files.writeString(next, text + "\n");
    try (FileChannel file = FileChannel.open(next, StandardOpenOption.WRITE)) {
      file.force(true);
    }
    Files.move(next, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE);
  }
}
