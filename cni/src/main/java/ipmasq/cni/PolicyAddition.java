package ipmasq.cni;

import ipmasq.cni.JsonDocument.Edit;
import ipmasq.json.JsonValue;
import ipmasq.json.MalformedJson;
import java.util.List;
import java.util.Optional;

/** Puts an OutBoundNAT policy into a file that has none, in the shape of the policies around it. */
final class PolicyAddition {
  private PolicyAddition() {}

  /** Beside a policy of the other family, else among a plugin's policies, else in a new array. */
  static Edit of(JsonDocument document, List<String> raws) throws MalformedJson {
    JsonLayout layout = JsonLayout.of(document);
    List<JsonValue.Obj> plugins = PolicyFinder.plugins(document.root());
    Optional<JsonValue.Arr> beside =
        PolicyFinder.lists(document).stream().map(list -> list.element().array()).findFirst();
    for (JsonValue.Obj plugin : plugins) {
      for (JsonValue.Member policies : PolicyFinder.policies(plugin)) {
        JsonValue.Arr array = (JsonValue.Arr) policies.value();
        if (beside.isEmpty() || beside.get().equals(array)) {
          boolean v2 = wantsV2(plugin) || hasV2(array);
          return layout.append(array, item(policies.key().text(), v2, raws));
        }
      }
    }
    JsonValue.Obj plugin = innermost(plugins);
    String key = takesAdditionalArgs(plugin) ? "AdditionalArgs" : "policies";
    NewJson item = item(key, wantsV2(plugin), raws);
    return layout.append(plugin, key, new NewJson.Items(List.of(item)));
  }

  /**
   * What does the work: of flannel its delegate, of a list its first plugin (those after it are
   * helpers such as portmap).
   */
  private static JsonValue.Obj innermost(List<JsonValue.Obj> plugins) throws MalformedJson {
    JsonValue.Obj at = plugins.getFirst();
    for (JsonValue.Obj next : plugins) {
      boolean inside = at.from() < next.from() && next.to() < at.to();
      at = inside ? next : at;
    }
    return at;
  }

  private static boolean takesAdditionalArgs(JsonValue.Obj plugin) throws MalformedJson {
    return plugin.says("type", "sdnbridge")
        || plugin.says("type", "sdnoverlay")
        || plugin.says("type", "azure-vnet");
  }

  /** The sdn plugins and win-bridge's API version 2 hand policies to HCN, the others to HNS. */
  private static boolean wantsV2(JsonValue.Obj plugin) throws MalformedJson {
    return plugin.says("type", "sdnbridge")
        || plugin.says("type", "sdnoverlay")
        || plugin.value("apiVersion").orElse(null) instanceof JsonValue.Word word
            && word.text().equals("2");
  }

  private static boolean hasV2(JsonValue.Arr policies) throws MalformedJson {
    for (JsonValue item : policies.items()) {
      Optional<JsonValue.Obj> policy = PolicyFinder.policy(item);
      if (policy.isPresent() && policy.get().object("settings").isPresent()) {
        return true;
      }
    }
    return false;
  }

  private static NewJson item(String array, boolean v2, List<String> raws) {
    NewJson.Field type = NewJson.field("Type", NewJson.string(PolicyFinder.TYPE));
    NewJson.Field list =
        v2 || array.equalsIgnoreCase("HcnPolicyArgs")
            ? NewJson.field(
                "Settings", NewJson.object(NewJson.field("Exceptions", NewJson.list(raws))))
            : NewJson.field("ExceptionList", NewJson.list(raws));
    NewJson policy = NewJson.object(type, list);
    if (array.equalsIgnoreCase("HcnPolicyArgs")) {
      return policy;
    }
    boolean capital = array.equalsIgnoreCase("AdditionalArgs");
    return NewJson.object(
        NewJson.field(capital ? "Name" : "name", NewJson.string("EndpointPolicy")),
        NewJson.field(capital ? "Value" : "value", policy));
  }
}
