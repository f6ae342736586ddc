package ipmasq.cli;

import ipmasq.config.Config;
import ipmasq.config.Config.BackendChoice;
import ipmasq.config.Key;
import ipmasq.config.Reading;
import ipmasq.config.Reading.Place;
import ipmasq.json.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** {@code config}: every key with its value and the value's origin. */
final class ShowConfig {
  private ShowConfig() {}

  static int run(CommandContext context) {
    Reading reading = context.read();
    if (!context.accepts(reading) || !(reading instanceof Reading.Read read)) {
      return Main.FAILED;
    }
    BackendChoice backend = context.backends().look().choose(read.config().backend()).backend();
    String here = Key.BACKEND.json(backend).toString();
    if (context.json()) {
      context.printJson(json(context, read, here));
    } else {
      for (Key<?> key : Key.ALL) {
        print(context, key, read, here);
      }
    }
    return Main.OK;
  }

  /** Where a file gives the value; empty if none does. */
  private static List<Place> places(Key<?> key, Reading.Read read) {
    return read.places().getOrDefault(key, List.of());
  }

  /** The flag that gives the value, if no file does. */
  private static Optional<Flag> flag(CommandContext context, Key<?> key) {
    CommandLine line = context.settings().line();
    return key == Key.NON_MASQUERADE_CIDRS && line.isOn(Flag.ALL_RESERVED)
        ? Optional.of(Flag.ALL_RESERVED)
        : Flag.of(key).filter(line::has);
  }

  /** A value as in a file; null if it is none. */
  private static <T> @Nullable Object value(Key<T> key, Config config) {
    Object value = key.json(config.of(key));
    return value.equals("") ? null : value;
  }

  /** YAML with JSON-quoted strings, so that no value is misread as another type. */
  private static void print(CommandContext context, Key<?> key, Reading.Read read, String here) {
    Object value = value(key, read.config());
    Optional<Flag> flag = flag(context, key);
    boolean byDefault = places(key, read).isEmpty() && flag.isEmpty();
    String comment = "  # " + origin(key, places(key, read), flag);
    if (key == Key.BACKEND && !here.equals(value)) {
      comment += "; here " + here;
    }
    if (value instanceof List<?> list && !list.isEmpty()) {
      context.out().println(key + ":" + comment);
      list.forEach(each -> context.out().println("  - " + Json.write(each)));
    } else {
      // An empty list that nobody gave is not what somebody who gives one means; and --strict would
      // overrule the key.
      boolean none = byDefault && (value instanceof List || key == Key.STRICT);
      context.out().println((none ? "# " : "") + key + ": " + Json.write(value) + comment);
    }
  }

  private static String origin(Key<?> key, List<Place> places, Optional<Flag> flag) {
    if (!places.isEmpty()) {
      return places.stream().map(Place::toString).collect(Collectors.joining(", "));
    }
    String words = key.defaultInWords();
    return flag.map(it -> "flag " + it).orElse(words.isEmpty() ? "default" : "default: " + words);
  }

  private static Map<String, Object> json(CommandContext context, Reading.Read read, String here) {
    Map<String, Object> keys = new LinkedHashMap<>();
    for (Key<?> key : Key.ALL) {
      Map<String, @Nullable Object> fields = new LinkedHashMap<>();
      fields.put("value", value(key, read.config()));
      List<Place> places = places(key, read);
      Optional<Flag> flag = flag(context, key);
      if (!places.isEmpty()) {
        fields.put("origin", "file");
        fields.put("places", places.stream().map(ShowConfig::json).toList());
      } else {
        fields.put("origin", flag.isPresent() ? "flag" : "default");
        flag.ifPresent(it -> fields.put("flag", it.name()));
      }
      if (key == Key.BACKEND) {
        fields.put("here", here);
      }
      keys.put(key.name(), fields);
    }
    Map<String, Object> answer = CommandContext.answer(read);
    answer.put("config", keys);
    return answer;
  }

  private static Map<String, Object> json(Place place) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("file", place.file());
    fields.put("line", place.line());
    return fields;
  }
}
