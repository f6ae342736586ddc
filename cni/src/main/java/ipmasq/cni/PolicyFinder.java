package ipmasq.cni;

import ipmasq.cni.ExceptionList.Entry;
import ipmasq.cni.ExceptionList.Location;
import ipmasq.json.JsonValue;
import ipmasq.json.MalformedJson;
import ipmasq.net.Family;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the OutBoundNAT policies in the shapes that are in the field, keys in any case:
 *
 * <pre>
 *   plugin    the file itself, plugins[], delegate, delegates[]
 *   policies  of a plugin: policies[], AdditionalArgs[], HcnPolicyArgs[]
 *   policy    an item of these, or its "value"
 *   list      ExceptionList or Exceptions, of the policy or of its "settings"
 * </pre>
 */
final class PolicyFinder {
  static final String TYPE = "OutBoundNAT";
  private static final List<String> POLICIES =
      List.of("policies", "AdditionalArgs", "HcnPolicyArgs");
  private static final List<String> LISTS = List.of("ExceptionList", "Exceptions");

  private PolicyFinder() {}

  /** The objects of a file that configure a plugin each, outer before inner. */
  static List<JsonValue.Obj> plugins(JsonValue.Obj root) throws MalformedJson {
    List<JsonValue.Obj> plugins = new ArrayList<>();
    collect(root, plugins);
    return plugins;
  }

  private static void collect(JsonValue.Obj plugin, List<JsonValue.Obj> plugins)
      throws MalformedJson {
    plugins.add(plugin);
    Optional<JsonValue.Obj> delegate = plugin.object("delegate");
    if (delegate.isPresent()) {
      collect(delegate.get(), plugins);
    }
    for (String name : List.of("plugins", "delegates")) {
      for (JsonValue item : items(plugin.array(name))) {
        if (item instanceof JsonValue.Obj inner) {
          collect(inner, plugins);
        }
      }
    }
  }

  /** The arrays of policies that a plugin has. */
  static List<JsonValue.Member> policies(JsonValue.Obj plugin) throws MalformedJson {
    List<JsonValue.Member> found = new ArrayList<>();
    for (String name : POLICIES) {
      plugin.member(name).filter(m -> m.value() instanceof JsonValue.Arr).ifPresent(found::add);
    }
    return found;
  }

  /** The policy that an item of such an array is. */
  static Optional<JsonValue.Obj> policy(JsonValue item) throws MalformedJson {
    if (!(item instanceof JsonValue.Obj object)) {
      return Optional.empty();
    }
    Optional<JsonValue.Obj> value = object.object("value");
    return value.isPresent() ? value : Optional.of(object);
  }

  static List<ExceptionList> lists(JsonDocument document) throws MalformedJson {
    List<ExceptionList> found = new ArrayList<>();
    for (JsonValue.Obj plugin : plugins(document.root())) {
      for (JsonValue.Member policies : policies(plugin)) {
        found.addAll(listsIn(document, policies));
      }
    }
    return found;
  }

  private static List<ExceptionList> listsIn(JsonDocument document, JsonValue.Member policies)
      throws MalformedJson {
    JsonValue.Arr array = (JsonValue.Arr) policies.value();
    boolean v2 = policies.key().text().equalsIgnoreCase("HcnPolicyArgs");
    List<ExceptionList> found = new ArrayList<>();
    for (int i = 0; i < array.items().size(); i++) {
      Optional<JsonValue.Obj> policy = policy(array.items().get(i));
      if (policy.isPresent() && policy.get().says("type", TYPE)) {
        for (Location location : locations(policy.get(), v2)) {
          found.add(list(document, location, new ExceptionList.Element(array, i)));
        }
      }
    }
    return withFamilies(found);
  }

  private static ExceptionList list(
      JsonDocument document, Location location, ExceptionList.Element element) {
    return switch (location) {
      case Location.Existing(var array) ->
          new ExceptionList(
              location,
              array.from(),
              element,
              array.items().stream().map(item -> Entry.of(document, item)).toList(),
              Set.of());
      case Location.Missing(var object, _, _) ->
          new ExceptionList(location, object.from(), element, List.of(), Set.of());
    };
  }

  /** The lists of a policy; if it has none, the place for one. */
  private static List<Location> locations(JsonValue.Obj policy, boolean v2) throws MalformedJson {
    Optional<JsonValue.Obj> settings = policy.object("settings");
    List<Location> locations = new ArrayList<>(locationsIn(policy));
    if (settings.isPresent()) {
      locations.addAll(locationsIn(settings.get()));
    }
    if (!locations.isEmpty()) {
      return locations;
    }
    boolean loopback =
        policy.value("destinations").isPresent()
            || settings.isPresent() && settings.get().value("destinations").isPresent();
    if (loopback) {
      return List.of(); // direct server return to the pod itself, not our concern
    }
    if (settings.isPresent()) {
      return List.of(new Location.Missing(settings.get(), "Exceptions", false));
    }
    return List.of(
        v2
            ? new Location.Missing(policy, "Exceptions", true)
            : new Location.Missing(policy, "ExceptionList", false));
  }

  private static List<Location> locationsIn(JsonValue.Obj object) throws MalformedJson {
    List<Location> locations = new ArrayList<>();
    for (String name : LISTS) {
      Optional<JsonValue> value = object.value(name);
      if (value.isPresent()) {
        locations.add(
            new Location.Existing(
                switch (value.get()) {
                  case JsonValue.Arr array -> array;
                  case JsonValue.Word word when word.isNull() ->
                      new JsonValue.Arr(word.from(), word.to(), List.of());
                  case JsonValue other ->
                      throw new MalformedJson(
                          other.from(), "expected a list of ranges for " + name);
                }));
      }
    }
    return locations;
  }

  /**
   * A list is of the families of its blocks. An empty one of several next to each other is of the
   * family that the others lack, IPv4 first: so an emptied IPv6 list does not turn into another.
   */
  private static List<ExceptionList> withFamilies(List<ExceptionList> lists) {
    Set<Family> taken = EnumSet.noneOf(Family.class);
    lists.forEach(list -> taken.addAll(families(list)));
    List<ExceptionList> done = new ArrayList<>();
    for (ExceptionList list : lists) {
      Set<Family> families = families(list);
      if (families.isEmpty()) {
        Family lacking =
            taken.contains(Family.IPV4) && !taken.contains(Family.IPV6) ? Family.IPV6 : Family.IPV4;
        taken.add(lacking);
        families.add(lacking);
      }
      done.add(
          new ExceptionList(list.location(), list.at(), list.element(), list.entries(), families));
    }
    return done;
  }

  private static Set<Family> families(ExceptionList list) {
    Set<Family> families = EnumSet.noneOf(Family.class);
    for (Entry entry : list.entries()) {
      entry.cidr().ifPresent(cidr -> families.add(cidr.family()));
    }
    return families;
  }

  /** Whether a plugin gives pods IPv6 addresses, so that a policy for them makes sense. */
  static boolean dualStack(JsonValue.Obj root) throws MalformedJson {
    for (JsonValue.Obj plugin : plugins(root)) {
      Optional<JsonValue.Obj> flags = plugin.object("optionalFlags");
      if (isTrue(plugin.value("enableDualStack"))
          || flags.isPresent() && isTrue(flags.get().value("enableDualStack"))
          || hasV6Subnet(plugin.object("ipam").map(JsonValue.class::cast))) {
        return true;
      }
    }
    return false;
  }

  private static boolean isTrue(Optional<JsonValue> value) {
    return value.isPresent()
        && value.get() instanceof JsonValue.Word word
        && word.text().equals("true");
  }

  private static boolean hasV6Subnet(Optional<JsonValue> json) {
    return switch (json.orElse(null)) {
      case JsonValue.Obj object ->
          object.members().stream()
              .anyMatch(
                  m ->
                      m.key().text().equalsIgnoreCase("subnet")
                              && m.value() instanceof JsonValue.Str(_, _, var text)
                              && text.indexOf(':') >= 0
                          || hasV6Subnet(Optional.of(m.value())));
      case JsonValue.Arr array -> array.items().stream().anyMatch(i -> hasV6Subnet(Optional.of(i)));
      case JsonValue.Str _, JsonValue.Word _ -> false;
      case null -> false;
    };
  }

  private static List<JsonValue> items(Optional<JsonValue.Arr> array) {
    return array.map(JsonValue.Arr::items).orElse(List.of());
  }
}
