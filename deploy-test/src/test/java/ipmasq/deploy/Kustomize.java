package ipmasq.deploy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** {@code kubectl kustomize}, offline, by the kubectl that {@code tools/locked} unpacks. */
final class Kustomize {
  private Kustomize() {}

  static Objects render(String folder) throws IOException, InterruptedException {
    var kubectl = run(Project.file("tools/locked").toString(), "kubectl").strip();
    return Objects.of(run(kubectl, "kustomize", Project.file(folder).toString()));
  }

  /** What a user's own kustomization makes of the base and these; staged, of two configs too. */
  static JsonObject combined(Path folder, List<String> components)
      throws IOException, InterruptedException {
    var staged = components.stream().anyMatch(component -> component.startsWith("staged"));
    return combined(
        folder, components, staged ? List.of("ip-masq-agent", "ip-masq-agent-more") : List.of());
  }

  /** The same with ConfigMaps of these names. */
  static JsonObject combined(Path folder, List<String> components, List<String> maps)
      throws IOException, InterruptedException {
    var deploy = folder.toRealPath().relativize(Project.file("deploy").toRealPath());
    var text = new StringBuilder("resources: [" + deploy + "/base]\ncomponents:\n");
    components.forEach(c -> text.append("  - " + deploy + "/components/" + c + "\n"));
    text.append(maps.isEmpty() ? "" : "configMapGenerator:\n");
    maps.forEach(
        map ->
            text.append(
                "  - {name: %s, namespace: kube-system, literals: ['config={}']}%n"
                    .formatted(map)));
    Files.writeString(folder.resolve("kustomization.yaml"), text);
    return render(folder.toString()).only("DaemonSet");
  }

  static String run(String... command) throws IOException, InterruptedException {
    var process = new ProcessBuilder(command).start();
    var out = new String(process.getInputStream().readAllBytes());
    var err = new String(process.getErrorStream().readAllBytes());
    assertEquals(0, process.waitFor(), err);
    assertEquals("", err, "warnings of " + command[0]);
    return out;
  }
}
