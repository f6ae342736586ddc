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

/** {@code config}: every key with its value and the value's origin. */
final class ShowConfig {
  private ShowConfig() {}

  /** Where a value comes from. */
  private sealed interface Origin {
    record Default() implements Origin {}

    record OfFlag(String name) implements Origin {}

    record InFiles(List<Place> places) implements Origin {}
  }

  static int run(CommandContext context) {
    return run(context, System.in);
  }

  static int run(CommandContext context, InputStream in) {
    Reading reading = context.read(in);
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

  private static Origin origin(CommandContext context, Key<?> key, Reading.Read read) {
    List<Place> places = read.places().getOrDefault(key, List.of());
    String flag = context.settings().origins().get(key);
    return !places.isEmpty()
        ? new Origin.InFiles(places)
        : flag != null ? new Origin.OfFlag(flag) : new Origin.Default();
  }

  /** A value as in a file; null if it is none. */
  private static <T> @Nullable Object value(Key<T> key, Config config) {
    Object value = key.json(config.of(key));
    return value.equals("") ? null : value;
  }

  /** YAML with JSON-quoted strings, so that no value is misread as another type. */
  private static void print(CommandContext context, Key<?> key, Reading.Read read, String here) {
    Object value = value(key, read.config());
    Origin origin = origin(context, key, read);
    String comment = "  # " + words(origin, key);
    if (key == Key.BACKEND && !here.equals(value)) {
      comment += "; here " + here;
    }
    if (value instanceof List<?> list && !list.isEmpty()) {
      context.out().println(key + ":" + comment);
      list.forEach(each -> context.out().println("  - " + Json.write(each)));
    } else {
      // An empty list that nobody gave is not what somebody who gives one means; and --strict would
      // overrule the key.
      boolean none =
          origin instanceof Origin.Default && (value instanceof List || key == Key.STRICT);
      context.out().println((none ? "# " : "") + key + ": " + Json.write(value) + comment);
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

  private static Map<String, Object> json(CommandContext context, Reading.Read read, String here) {
    Map<String, Object> keys = new LinkedHashMap<>();
    for (Key<?> key : Key.ALL) {
      Map<String, @Nullable Object> fields = new LinkedHashMap<>();
      fields.put("value", value(key, read.config()));
      switch (origin(context, key, read)) {
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
