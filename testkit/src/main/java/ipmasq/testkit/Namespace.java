package ipmasq.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;

/** A network namespace of its own, gone when closed. Thread-safe. */
public final class Namespace implements AutoCloseable {
  private final String role;
  private final String name;

  private Namespace(String role, String name) {
    this.role = role;
    this.name = name;
  }

  /** Makes one with nothing in it but a loopback that is up; the role is for people to read. */
  public static Namespace open(String role) {
    Namespace namespace = openAll(role).getFirst();
    namespace.ip("link set lo up");
    return namespace;
  }

  /** Makes several, faster than one by one; each loopback is still down. */
  static List<Namespace> openAll(String... roles) {
    List<Namespace> namespaces =
        Arrays.stream(roles).map(role -> new Namespace(role, Leftovers.name(role))).toList();
    batch(List.of("ip"), namespaces.stream().map(n -> "netns add " + n.name).toList());
    return namespaces;
  }

  /** What {@code ip netns list} calls it. */
  public String name() {
    return name;
  }

  /** Runs a command inside to its end. */
  public Result run(String... command) {
    return feed("", command);
  }

  /** Runs a command inside to its end, with {@code input} on its stdin. */
  public Result feed(String input, String... command) {
    return Commands.run(processBuilder(command), input, Commands.DEADLINE);
  }

  /** Runs a command inside that must end within the deadline. */
  public Result runWithin(Duration deadline, String... command) {
    return Commands.run(processBuilder(command), "", deadline);
  }

  /**
   * Starts a command inside. {@code nsenter} is replaced by the command, so the process id is the
   * command's own; unlike {@code ip netns exec} it mounts nothing.
   */
  public ProcessBuilder processBuilder(String... command) {
    List<String> whole = new ArrayList<>(List.of("nsenter", "--net=" + path(), "--"));
    whole.addAll(Arrays.asList(command));
    return new ProcessBuilder(whole);
  }

  private String path() {
    return NetworkNamespace.path(name);
  }

  /** Carries out lines as after {@code ip}, all in one process: {@code "link set eth0 up"}. */
  public void ip(String... lines) {
    ip(Arrays.asList(lines));
  }

  void ip(List<String> lines) {
    batch(List.of("ip", "-n", name), lines);
  }

  /** The same for lines whose family nothing in them tells. */
  void ip6(List<String> lines) {
    batch(List.of("ip", "-6", "-n", name), lines);
  }

  static void batch(List<String> program, List<String> lines) {
    List<String> command = new ArrayList<>(program);
    command.addAll(List.of("-batch", "-"));
    String input = String.join("\n", lines) + "\n";
    Result result = Commands.run(new ProcessBuilder(command), input, Commands.DEADLINE);
    if (result.exit() != 0) {
      throw new AssertionError(result + "\n" + input);
    }
  }

  /** What {@code iptables-save} prints of one table. */
  public String iptablesSave(String table) {
    return run("iptables-save", "-t", table).ok();
  }

  /** What {@code ip6tables-save} prints of one table. */
  public String ip6tablesSave(String table) {
    return run("ip6tables-save", "-t", table).ok();
  }

  /** What {@code nft} prints: {@code nft("list", "ruleset")}. */
  public String nft(String... arguments) {
    String[] command = new String[arguments.length + 1];
    command[0] = "nft";
    System.arraycopy(arguments, 0, command, 1, arguments.length);
    return run(command).ok();
  }

  /** Sets values below {@code /proc/sys/net}: {@code sysctl("ipv4/ip_forward=1")}. */
  public void sysctl(String... settings) {
    try {
      this.<@Nullable Void, IOException>call(
          () -> {
            for (String setting : settings) {
              int equals = setting.indexOf('=');
              Path key = Path.of("/proc/sys/net", setting.substring(0, equals));
              Files.writeString(key, setting.substring(equals + 1));
            }
            return null;
          });
    } catch (IOException e) {
      throw new UncheckedIOException("cannot set " + String.join(" ", settings), e);
    }
  }

  /** Something to do inside. */
  @FunctionalInterface
  public interface Task<T extends @Nullable Object, X extends Exception> {
    T run() throws X;
  }

  /**
   * Runs code on a thread inside. Sockets that it opens belong there wherever they are used later.
   *
   * <p>So do threads that it starts, for as long as they live: start none that outlives the call,
   * and no virtual ones, whose carriers serve everybody.
   */
  @SuppressWarnings("unchecked") // what a task throws is an X or needs no declaration
  public <T extends @Nullable Object, X extends Exception> T call(Task<T, X> task) throws X {
    FutureTask<T> future =
        new FutureTask<>(
            () -> {
              NetworkNamespace.enter(name);
              return task.run();
            });
    Thread thread = Thread.ofPlatform().daemon().name(name).start(future);
    try {
      return future.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw (X) e.getCause();
    } catch (InterruptedException e) {
      thread.interrupt();
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted inside " + name, e);
    }
  }

  /** Ends what still runs inside and removes it with all its interfaces. */
  @Override
  public void close() {
    closeAll(List.of(this));
  }

  static void closeAll(List<Namespace> namespaces) {
    Leftovers.delete(namespaces.stream().map(Namespace::name).toList());
  }

  @Override
  public String toString() {
    return role;
  }
}
