package ipmasq.deploy;

import ipmasq.testkit.Eventually;
import ipmasq.testkit.Namespace;
import ipmasq.testkit.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A real registry on the loopback of a namespace, where nobody else can reach it. */
final class Registry implements AutoCloseable {
  static final String HOST = "localhost:5000";
  private final Path folder;
  private final Process process;

  private Registry(Path folder, Process process) {
    this.folder = folder;
    this.process = process;
  }

  /** Takes whatever comes. */
  static Registry open(Namespace host, Path folder) throws IOException {
    return start(host, folder, "");
  }

  /** Asks who it is; the one user it knows is told by {@link #password}. */
  static Registry guarded(Namespace host, Path folder) throws IOException {
    return start(host, folder, "auth: {htpasswd: {realm: test, path: %s/users}}\n");
  }

  private static Registry start(Namespace host, Path folder, String auth) throws IOException {
    var config =
        """
        version: 0.1
        log: {level: info, accesslog: {disabled: true}}
        storage: {filesystem: {rootdirectory: %s/images}}
        http: {addr: 127.0.0.1:5000, secret: test}
        """
            + auth;
    Files.writeString(folder.resolve("config.yml"), config.replace("%s", folder.toString()));
    var process =
        host.processBuilder("docker-registry", "serve", folder.resolve("config.yml").toString())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("log").toFile())
            .start();
    var registry = new Registry(folder, process);
    try {
      Eventually.eventually("it listens", registry::log, log -> log.contains("listening on"));
    } catch (AssertionError e) {
      registry.close();
      throw e;
    }
    return registry;
  }

  /** A registry that finds no users makes one up, and says so in its log. */
  String password() {
    var log = log();
    var from = log.indexOf("password=") + "password=".length();
    return log.substring(from, log.indexOf(' ', from));
  }

  String log() {
    try {
      return Files.readString(folder.resolve("log"));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Does it hold anything by that name? */
  static Result look(Namespace host, String image, String... more) {
    var command = new String[4 + more.length];
    command[0] = "skopeo";
    command[1] = "inspect";
    command[2] = "--tls-verify=false";
    System.arraycopy(more, 0, command, 3, more.length);
    command[3 + more.length] = "docker://" + image;
    return host.run(command);
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(10, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
