package ipmasq.netlink;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** Runs tests in a network namespace of their own, which ends with the thread that made it. */
public final class OwnNamespace {
  private static final long UNSHARE = Syscalls.number(272, 97);
  private static final long CLONE_NEWNET = 0x4000_0000;

  private OwnNamespace() {}

  /** What a test does. */
  public interface Body {
    void run() throws Exception;
  }

  /** Runs it on a platform thread; the processes that it starts are in the namespace too. */
  public static void run(Body body) throws Exception {
    FutureTask<Void> task =
        new FutureTask<>(
            () -> {
              long result = Syscalls.call(UNSHARE, CLONE_NEWNET, 0, 0, 0, 0, 0);
              if (result < 0) {
                throw new IllegalStateException("unshare: " + Errno.of(result));
              }
              body.run();
              return null;
            });
    Thread.ofPlatform().name("own-namespace").start(task);
    try {
      task.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw (Exception) e.getCause();
    }
  }

  /** The output of a program that succeeds. */
  public static String output(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IllegalStateException(String.join(" ", command) + ": " + output);
    }
    return output;
  }
}
