package ipmasq.deploy;

import static ipmasq.deploy.Podman.podman;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import ipmasq.testkit.Namespace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A pod of a DaemonSet, run by {@code podman kube play} with a namespace as the node's network. */
record PlayedPod(String name, Namespace node, Path file) implements AutoCloseable {
  /**
   * Starts it. What must differ from a node: the lock file, the image's name, and nobody restarts
   * it. Podman would run the probes by a curl inside the container, where a kubelet asks from
   * outside.
   */
  static PlayedPod of(
      JsonObject daemonSet, String image, Namespace node, Path folder, String configMap)
      throws Exception {
    var name = "ipmq-pod-" + ProcessHandle.current().pid();
    var pod = new JsonObject();
    pod.addProperty("apiVersion", "v1");
    pod.addProperty("kind", "Pod");
    var metadata = new JsonObject();
    metadata.addProperty("name", name);
    pod.add("metadata", metadata);
    var spec =
        daemonSet.getAsJsonObject("spec").getAsJsonObject("template").getAsJsonObject("spec");
    pod.add("spec", spec);
    spec.addProperty("restartPolicy", "Never");
    var lock = Files.createFile(folder.resolve("xtables.lock"));
    replace(spec, "/run/xtables.lock", lock.toString(), "path");
    for (var kind : List.of("initContainers", "containers")) {
      for (var element : spec.has(kind) ? spec.getAsJsonArray(kind) : new JsonArray()) {
        var container = element.getAsJsonObject();
        container.addProperty("image", image);
        for (var part : List.of("ports", "startupProbe", "livenessProbe", "readinessProbe")) {
          container.remove(part);
        }
      }
    }
    var map = Files.writeString(folder.resolve("map.yaml"), configMap);
    var file = Files.writeString(folder.resolve("pod.json"), new Gson().toJson(pod));
    var played = new PlayedPod(name, node, file);
    try {
      // The host's network is the namespace that podman itself runs in.
      Podman.podmanIn(node, "kube", "play", "--configmap=" + map, file.toString()).ok();
      return played;
    } catch (AssertionError e) {
      played.close();
      throw e;
    }
  }

  String log(String container) throws IOException, InterruptedException {
    return podman("logs", name + "-" + container).text();
  }

  String state(String container) throws IOException, InterruptedException {
    return podman("inspect", "--format={{.State.Status}}", name + "-" + container).text().strip();
  }

  @Override
  public void close() throws IOException {
    try {
      Podman.podmanIn(node, "kube", "down", file.toString());
      podman("pod", "rm", "--force", "--time=1", name);
      podman("volume", "rm", "--force", "ip-masq-agent");
      podman("network", "rm", "podman-default-kube-network"); // made for every pod, needed or not
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Replaces a text wherever it stands under that key. */
  private static void replace(JsonElement in, String text, String by, String key) {
    switch (in) {
      case JsonObject object -> {
        for (var entry : List.copyOf(object.entrySet())) {
          if (entry.getKey().equals(key) && entry.getValue().equals(new JsonPrimitive(text))) {
            object.addProperty(key, by);
          } else {
            replace(entry.getValue(), text, by, key);
          }
        }
      }
      case JsonArray array -> array.forEach(e -> replace(e, text, by, key));
      default -> {}
    }
  }
}
