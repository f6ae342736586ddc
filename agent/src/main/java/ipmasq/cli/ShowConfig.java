package ipmasq.cli;

import ipmasq.config.Config;
import ipmasq.config.Config.BackendChoice;
import ipmasq.config.Key;
import ipmasq.config.Reading;
import ipmasq.config.Reading.Place;
import ipmasq.json.Json;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** {@code config}: every key with its value and where that comes from. */
final class ShowConfig {
  private ShowConfig() {}

  /** Where a value comes from. */
  private sealed interface Origin {
    record Default() implements Origin {}

    record OfFlag(String name) implements Origin {}

    record InFiles(List<Place> places) implements Origin {}
  }

  static int run(Console console) {
    return run(console, System.in);
  }

  static int run(Console console, InputStream in) {
    Reading reading = console.read(in);
    if (!console.accepts(reading) || !(reading instanceof Reading.Read read)) {
      return Main.FAILED;
    }
    BackendChoice backend = console.backends().look().choose(read.config().backend()).backend();
    String here = Key.BACKEND.json(backend).toString();
    if (console.json()) {
      console.printJson(json(console, read, here));
    } else {
      for (Key<?> key : Key.ALL) {
        print(console, key, read, here);
      }
    }
    return Main.OK;
  }

  private static Origin origin(Console console, Key<?> key, Reading.Read read) {
    List<Place> places = read.places().getOrDefault(key, List.of());
    String flag = console.settings().origins().get(key);
    return !places.isEmpty()
        ? new Origin.InFiles(places)
        : flag != null ? new Origin.OfFlag(flag) : new Origin.Default();
  }

  /** A value as a file would have it; null where it is none. */
  private static <T> @Nullable Object value(Key<T> key, Config config) {
    Object value = key.json(config.of(key));
    return value.equals("") ? null : value;
  }

  /** YAML, its texts in JSON's quotes, so that nothing is taken for something else. */
  private static void print(Console console, Key<?> key, Reading.Read read, String here) {
    Object value = value(key, read.config());
    Origin origin = origin(console, key, read);
    String comment = "  # " + words(origin, key);
    if (key == Key.BACKEND && !here.equals(value)) {
      comment += "; here " + here;
    }
    if (value instanceof List<?> list && !list.isEmpty()) {
      console.out().println(key + ":" + comment);
      list.forEach(each -> console.out().println("  - " + Json.write(each)));
    } else {
      console.out().println(key + ": " + Json.write(value) + comment);
    }
  }

  private static String words(Origin origin, Key<?> key) {
    return switch (origin) {
      case Origin.Default() ->
          key.defaultInWords().isEmpty() ? "default" : "default: " + key.defaultInWords();
      case Origin.OfFlag(var name) -> "flag --" + name;
      case Origin.InFiles(var places) ->
          places.stream().map(Place::toString).collect(Collectors.joining(", "));
    };
  }

  private static Map<String, Object> json(Console console, Reading.Read read, String here) {
    Map<String, Object> keys = new LinkedHashMap<>();
    for (Key<?> key : Key.ALL) {
      Map<String, @Nullable Object> fields = new LinkedHashMap<>();
      fields.put("value", value(key, read.config()));
      switch (origin(console, key, read)) {
        case Origin.Default() -> fields.put("origin", "default");
        case Origin.OfFlag(var name) -> {
          fields.put("origin", "flag");
          fields.put("flag", name);
        }
        case Origin.InFiles(var places) -> {
          fields.put("origin", "file");
          fields.put("places", places.stream().map(ShowConfig::json).toList());
        }
      }
      keys.put(key.name(), fields);
    }
    Map<String, Object> answer = Console.answer(read);
    answer.put("backend", here);
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
