package ipmasq.deploy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** {@code kubectl kustomize}, offline. */
final class Kustomize {
  private Kustomize() {}

  static Objects render(String folder) throws IOException, InterruptedException {
    assumeTrue(isHere(), "no kubectl here: run `tools/needs deploy` as root");
    var run = new ProcessBuilder("kubectl", "kustomize", Project.file(folder).toString()).start();
    var out = new String(run.getInputStream().readAllBytes());
    var err = new String(run.getErrorStream().readAllBytes());
    assumeTrue(
        !err.contains("unknown field \"patches\""),
        "this kubectl is too old for today's kustomize");
    run.waitFor(30, TimeUnit.SECONDS);
    assertEquals(0, run.exitValue(), err);
    assertEquals("", err, "warnings of kustomize");
    return Objects.of(out);
  }

  private static boolean isHere() throws InterruptedException {
    try {
      return new ProcessBuilder("kubectl", "version", "--client")
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor()
          == 0;
    } catch (IOException e) {
      return false;
    }
  }
}
