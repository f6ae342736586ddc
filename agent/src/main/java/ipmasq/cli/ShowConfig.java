package ipmasq.cli;

import ipmasq.config.Config.BackendChoice;
import ipmasq.config.Key;
import ipmasq.config.Problem.Place;
import ipmasq.config.Reading;
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

  /**
   * A key.
   *
   * @param value as in a file; null if it is none
   * @param places where files give the value
   * @param flag the flag that gives it, if no file does
   */
  private record Row(
      Key<?> key, @Nullable Object value, List<Place> places, Optional<Flag> flag, String here) {
    static <T> Row of(CommandContext context, Key<T> key, Reading.Read read, String here) {
      Object value = key.json(read.config().of(key));
      Optional<Flag> flag = Flag.of(key).filter(context.line()::has);
      if (key == Key.NON_MASQUERADE_CIDRS && context.isOn(Flag.ALL_RESERVED)) {
        flag = Optional.of(Flag.ALL_RESERVED);
      }
      List<Place> places = read.places().getOrDefault(key, List.of());
      return new Row(key, value.equals("") ? null : value, places, flag, here);
    }

    private String origin() {
      if (!places.isEmpty()) {
        return places.stream()
            .map(place -> place.file() + ":" + place.line())
            .collect(Collectors.joining(", "));
      }
      String words = key.defaultInWords();
      return flag.map(it -> "flag " + it).orElse(words.isEmpty() ? "default" : "default: " + words);
    }

    /** YAML with JSON-quoted strings, so that no value is misread as another type. */
    String yaml() {
      String comment = "  # " + origin();
      if (key == Key.BACKEND && !here.equals(value)) {
        comment += "; here " + here;
      }
      if (value instanceof List<?> list && !list.isEmpty()) {
        return key
            + ":"
            + comment
            + list.stream().map(it -> "\n  - " + Json.write(it)).collect(Collectors.joining());
      }
      // An empty list that nobody gave is not what somebody who gives one means; and --strict would
      // overrule the key.
      boolean byDefault = places.isEmpty() && flag.isEmpty();
      boolean none = byDefault && (value instanceof List || key == Key.STRICT);
      return (none ? "# " : "") + key + ": " + Json.write(value) + comment;
    }

    Map<String, @Nullable Object> fields() {
      Map<String, @Nullable Object> fields = new LinkedHashMap<>();
      fields.put("value", value);
      if (!places.isEmpty()) {
        fields.put("origin", "file");
        fields.put("places", places.stream().map(Row::fields).toList());
      } else {
        fields.put("origin", flag.isPresent() ? "flag" : "default");
        flag.ifPresent(it -> fields.put("flag", it.name()));
      }
      if (key == Key.BACKEND) {
        fields.put("here", here);
      }
      return fields;
    }

    private static Map<String, Object> fields(Place place) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("file", place.file());
      fields.put("line", place.line());
      return fields;
    }
  }

  static int run(CommandContext context) {
    Reading reading = context.read();
    if (!context.accepts(reading) || !(reading instanceof Reading.Read read)) {
      return Main.FAILED;
    }
    BackendChoice backend = context.backends().look().choose(read.config().backend()).backend();
    String here = Key.BACKEND.json(backend).toString();
    Map<String, Object> keys = new LinkedHashMap<>();
    for (Key<?> key : Key.ALL) {
      Row row = Row.of(context, key, read, here);
      keys.put(key.name(), row.fields());
      if (!context.json()) {
        context.out().println(row.yaml());
      }
    }
    if (context.json()) {
      Map<String, Object> answer = CommandContext.answer(read);
      answer.put("config", keys);
      context.printJson(answer);
    }
    return Main.OK;
  }
}
