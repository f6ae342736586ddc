package ipmasq.deploy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;

/** {@code kubectl kustomize}, offline, by the kubectl that {@code tools/kubectl} unpacks. */
final class Kustomize {
  private Kustomize() {}

  static Objects render(String folder) throws IOException, InterruptedException {
    var kubectl = run(Project.file("tools/kubectl").toString()).strip();
    return Objects.of(run(kubectl, "kustomize", Project.file(folder).toString()));
  }

  private static String run(String... command) throws IOException, InterruptedException {
    var process = new ProcessBuilder(command).start();
    var out = new String(process.getInputStream().readAllBytes());
    var err = new String(process.getErrorStream().readAllBytes());
    assertEquals(0, process.waitFor(), err);
    assertEquals("", err, "warnings of " + command[0]);
    return out;
  }
}
