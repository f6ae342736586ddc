package ipmasq.app;

import ipmasq.config.Config;
import ipmasq.config.ConfigReader;
import ipmasq.config.FlagDefaults;
import ipmasq.config.Key;
import ipmasq.config.Reading;
import ipmasq.evidence.flows.Answers;
import ipmasq.json.Json;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
  private final Supplier<FlagDefaults> node;

  /**
   * @param node what an {@code auto} in the config means here; no other flags, since the config has
   *     them already
   */
  public StateFolder(Path folder, Supplier<FlagDefaults> node) {
    this.folder = folder;
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
    write(CONFIG, Json.write(keys) + "\n");
  }

  private static <T> void put(Map<String, Object> keys, Key<T> key, Config config) {
    Object value = key.json(config.of(key));
    if (!value.equals("")) {
      keys.put(key.name(), value);
    }
  }

  /** The figures, if they are not too old. */
  Answers answers() {
    List<String> lines = read(ANSWERS);
    try {
      return !lines.isEmpty() && Instant.parse(lines.getFirst()).plus(FRESH).isAfter(Instant.now())
          ? Answers.parse(lines.subList(1, lines.size()))
          : new Answers();
    } catch (DateTimeParseException foreign) {
      return new Answers();
    }
  }

  void answers(Answers answers) throws IOException {
    List<String> lines = new ArrayList<>(List.of(Instant.now().toString()));
    lines.addAll(answers.lines());
    write(ANSWERS, String.join("\n", lines) + "\n");
  }

  Optional<RolledBack> rolledBack() {
    List<String> lines = read(ROLLED_BACK);
    return lines.size() == 2
        ? Optional.of(new RolledBack(lines.get(0), lines.get(1)))
        : Optional.empty();
  }

  void rolledBack(Optional<RolledBack> file) throws IOException {
    if (file.isPresent()) {
      write(ROLLED_BACK, file.get().hash + "\n" + file.get().why + "\n");
    } else {
      Files.deleteIfExists(folder.resolve(ROLLED_BACK));
    }
  }

  private List<String> read(String name) {
    try {
      return Files.readAllLines(folder.resolve(name));
    } catch (IOException none) {
      return List.of();
    }
  }

  /** All of it or nothing, also if the node loses power. */
  private void write(String name, String text) throws IOException {
    Path next = folder.resolve(name + ".new");
    try (FileChannel file =
        FileChannel.open(
            next,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
      while (bytes.hasRemaining()) {
        file.write(bytes);
      }
      file.force(true);
    }
    Files.move(next, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE);
  }
}
