package ipmasq.deploy;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** Kubernetes objects as a tool printed them: YAML documents, read to JSON. */
record Objects(List<JsonObject> all) {
  static Objects of(String yaml) {
    var gson = new Gson();
    var found = new ArrayList<JsonObject>();
    for (var document : new Load(LoadSettings.builder().build()).loadAllFromString(yaml)) {
      if (document instanceof Map<?, ?> map) {
        found.add(gson.toJsonTree(map).getAsJsonObject());
      }
    }
    return new Objects(found);
  }

  /** The only object of that kind. */
  JsonObject only(String kind) {
    var matching = all.stream().filter(o -> kind.equals(o.get("kind").getAsString())).toList();
    if (matching.size() != 1) {
      throw new AssertionError(matching.size() + " objects of kind " + kind + " among " + all);
    }
    return matching.getFirst();
  }

  /**
   * What one has and the other has not, a line a leaf: {@code - path = value} is only in the first,
   * {@code + path = value} only in the second.
   */
  static String difference(JsonElement first, JsonElement second) {
    var before = new TreeSet<String>();
    var after = new TreeSet<String>();
    leaves("", first, before);
    leaves("", second, after);
    var out = new StringBuilder();
    for (var line : before) {
      if (!after.contains(line)) {
        out.append("- ").append(line).append('\n');
      }
    }
    for (var line : after) {
      if (!before.contains(line)) {
        out.append("+ ").append(line).append('\n');
      }
    }
    return out.toString();
  }

  private static void leaves(String path, JsonElement element, TreeSet<String> into) {
    switch (element) {
      case JsonObject object ->
          object.entrySet().forEach(e -> leaves(path + "/" + e.getKey(), e.getValue(), into));
      case JsonArray array -> {
        for (int i = 0; i < array.size(); i++) {
          leaves(path + "/" + i, array.get(i), into);
        }
      }
      case JsonNull _ -> into.add(path + " = null");
      default -> into.add(path + " = " + element.getAsString());
    }
  }
}
