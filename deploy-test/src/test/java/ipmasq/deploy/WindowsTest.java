package ipmasq.deploy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kubernetes.client.openapi.models.V1DaemonSet;
import org.junit.jupiter.api.Test;

/** The manifest for Windows nodes. */
class WindowsTest {
  @Test
  void isAHostProcessThatKubernetesKnows() throws Exception {
    var set =
        Objects.of(Project.text("deploy/windows/ip-masq-agent-windows.yaml")).only("DaemonSet");
    V1DaemonSet.validateJsonElement(set);
    var pod = set.getAsJsonObject("spec").getAsJsonObject("template").getAsJsonObject("spec");
    var options = pod.getAsJsonObject("securityContext").getAsJsonObject("windowsOptions");
    assertTrue(options.get("hostProcess").getAsBoolean());
    // Kubernetes takes host processes on the host's network only.
    assertTrue(pod.get("hostNetwork").getAsBoolean());
    assertEquals("{\"kubernetes.io/os\":\"windows\"}", pod.get("nodeSelector").toString());
  }
}
