package ipmasq.cni;

import ipmasq.json.JsonValue;
import ipmasq.json.MalformedJson;
import ipmasq.net.Family;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Finds the exception lists in the shapes that are in the field, keys in any case:
 *
 * <pre>
 *   plugin    the file itself, plugins[], delegate, delegates[]
 *   policies  of a plugin: policies[], AdditionalArgs[], HcnPolicyArgs[]
 *   policy    an item of these, or its "value", with the type OutBoundNAT
 *   list      ExceptionList or Exceptions, of the policy or of its "settings"
 * </pre>
 */
final class PolicyFinder {
  private final byte[] file;
  private final List<ExceptionList> found = new ArrayList<>();

  private PolicyFinder(byte[] file) {
    this.file = file;
  }

  /** The list of each family. */
  static Map<Family, ExceptionList> lists(byte[] file) throws MalformedJson {
    requireUtf8(file);
    JsonValue root = JsonValue.read(file);
    if (!(root instanceof JsonValue.Obj plugin)) {
      throw new MalformedJson(root.from(), "expected an object");
    }
    PolicyFinder finder = new PolicyFinder(file);
    finder.plugin(plugin);
    return byFamily(finder.found);
  }

  /** PowerShell's redirection writes UTF-16. */
  private static void requireUtf8(byte[] bytes) throws MalformedJson {
    int mark = bytes.length < 2 ? 0 : (bytes[0] & 0xff) << 8 | bytes[1] & 0xff;
    if (mark == 0xfffe || mark == 0xfeff) {
      throw new MalformedJson(0, "the file is UTF-16, but CNI plugins read UTF-8");
    }
  }

  private void plugin(JsonValue.Obj plugin) throws MalformedJson {
    for (String name : List.of("policies", "AdditionalArgs", "HcnPolicyArgs")) {
      for (JsonValue item : items(plugin, name)) {
        if (item instanceof JsonValue.Obj object) {
          policy(object.object("value").orElse(object));
        }
      }
    }
    Optional<JsonValue.Obj> delegate = plugin.object("delegate");
    if (delegate.isPresent()) {
      plugin(delegate.get());
    }
    for (String name : List.of("plugins", "delegates")) {
      for (JsonValue item : items(plugin, name)) {
        if (item instanceof JsonValue.Obj inner) {
          plugin(inner);
        }
      }
    }
  }

  private static List<JsonValue> items(JsonValue.Obj object, String name) throws MalformedJson {
    return object.array(name).map(JsonValue.Arr::items).orElse(List.of());
  }

  private void policy(JsonValue.Obj policy) throws MalformedJson {
    if (!policy.says("type", "OutBoundNAT")) {
      return;
    }
    int before = found.size();
    boolean loopback = false; // direct server return to the pod itself, not our concern
    List<JsonValue.Obj> places = new ArrayList<>(List.of(policy));
    policy.object("settings").ifPresent(places::add);
    for (JsonValue.Obj object : places) {
      list(object, "ExceptionList");
      list(object, "Exceptions");
      loopback |= object.value("destinations").isPresent();
    }
    if (found.size() == before && !loopback) {
      throw new MalformedJson(
          policy.from(), "this OutBoundNAT policy has no list: give it \"ExceptionList\": []");
    }
  }

  private void list(JsonValue.Obj object, String name) throws MalformedJson {
    Optional<JsonValue> value = object.value(name);
    if (value.isPresent()) {
      JsonValue.Arr array =
          switch (value.get()) {
            case JsonValue.Arr items -> items;
            case JsonValue.Word word when word.isNull() ->
                new JsonValue.Arr(word.from(), word.to(), List.of());
            case JsonValue other ->
                throw new MalformedJson(other.from(), "expected a list of ranges for " + name);
          };
      found.add(ExceptionList.of(file, array));
    }
  }

  /**
   * A list belongs to the families of its blocks. An empty one belongs to the family that the
   * others lack, IPv4 first: so an emptied IPv6 list does not turn into another.
   */
  private static Map<Family, ExceptionList> byFamily(List<ExceptionList> lists)
      throws MalformedJson {
    Map<Family, ExceptionList> families = new EnumMap<>(Family.class);
    for (ExceptionList list : lists) {
      for (Family family : list.families()) {
        put(families, family, list);
      }
    }
    for (ExceptionList list : lists) {
      if (list.families().isEmpty()) {
        boolean second = families.containsKey(Family.IPV4) && !families.containsKey(Family.IPV6);
        put(families, second ? Family.IPV6 : Family.IPV4, list);
      }
    }
    return families;
  }

  private static void put(Map<Family, ExceptionList> families, Family family, ExceptionList list)
      throws MalformedJson {
    if (families.put(family, list) != null) {
      throw new MalformedJson(
          list.array().from(), "a second list for " + family + ": the agent keeps one");
    }
  }
}
