package ipmasq.deploy.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.deploy.Project;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/**
 * Where an operator types: a shell in the project's folder, whose every command and answer goes
 * into the transcript. Used by one thread.
 */
final class Terminal {
  private static final int MINUTES = 5;

  /** A node's mount namespace has the folder too, but entering it leads to its root. */
  private static final String IN_PROJECT = "cd \"$1\" && exec sh -c \"$2\"";

  private final UnaryOperator<ProcessBuilder> settings;
  private final Host host;
  private final Transcript transcript;

  /** Where a command runs. */
  @FunctionalInterface
  interface Host {
    ProcessBuilder command(String... command);
  }

  Terminal(Host host, UnaryOperator<ProcessBuilder> settings, Transcript transcript) {
    this.host = host;
    this.settings = settings;
    this.transcript = transcript;
  }

  /** What a command printed on both streams, and how it ended. */
  record Said(int exit, String text) {}

  /** Types a command that must succeed. */
  String type(String command) throws IOException, InterruptedException {
    return type(0, command);
  }

  /** Types a command that must end so. */
  String type(int exit, String command) throws IOException, InterruptedException {
    var said = quietly(command);
    transcript.command(command, said);
    assertEquals(exit, said.exit(), () -> "$ " + command + "\n" + said.text());
    return said.text();
  }

  /** A command that is no part of the story. */
  Said quietly(String command) throws IOException, InterruptedException {
    var process =
        settings
            .apply(host.command("sh", "-c", IN_PROJECT, "sh", Project.ROOT.toString(), command))
            .redirectErrorStream(true)
            .start();
    process.getOutputStream().close();
    var reader = new Reader(process);
    reader.start();
    if (!process.waitFor(MINUTES, TimeUnit.MINUTES)) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
      throw new AssertionError("does not end: " + command);
    }
    reader.join();
    return new Said(process.exitValue(), reader.text);
  }

  private static final class Reader extends Thread {
    private final Process process;
    private volatile String text = "";

    Reader(Process process) {
      this.process = process;
    }

    @Override
    public void run() {
      try {
        text = new String(process.getInputStream().readAllBytes());
      } catch (IOException killed) {
        text = "";
      }
    }
  }
}
