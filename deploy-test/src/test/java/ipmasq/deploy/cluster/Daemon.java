package ipmasq.deploy.cluster;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A program of the cluster that runs until it is closed. Its log is for people. */
record Daemon(String name, Process process) implements AutoCloseable {
  static Daemon start(String name, Path logs, ProcessBuilder builder) throws IOException {
    return new Daemon(
        name,
        builder
            .redirectErrorStream(true)
            .redirectOutput(Redirect.appendTo(logs.resolve(name + ".log").toFile()))
            .redirectInput(Path.of("/dev/null").toFile())
            .start());
  }

  boolean alive() {
    return process.isAlive();
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(5, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
