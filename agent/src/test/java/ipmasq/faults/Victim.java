package ipmasq.faults;

import ipmasq.e2e.Expected;
import ipmasq.e2e.Node;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.Eventually;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A node with a running agent, to which faults are done; whoever kills the agent starts it again,
 * as the kubelet does. Used by one thread.
 */
final class Victim implements AutoCloseable {
  /** What the agent has to put all right. Slow machines may be given more. */
  private static final Duration SOON =
      Duration.ofSeconds(5).multipliedBy(Integer.getInteger("ipmasq.faults.slowness", 1));

  private static final Duration LONGEST_DWELL = Duration.ofMillis(600);

  private static final List<String> INTO_PIPE = List.of("sh", "-c", "exec 2> \"$0\"; exec \"$@\"");

  /** More than the heap holds that {@link #shrinkMemory} leaves. */
  private static final String LARGE =
      IntStream.range(0, 100_000)
          .mapToObj(
              i -> "- " + (20 + (i >> 15)) + "." + (i >> 7 & 255) + "." + i % 128 * 2 + ".0/24\n")
          .collect(Collectors.joining("", "cidrLimit: 1000000\nnonMasqueradeCIDRs:\n", ""));

  private final String backend;
  private final Wanted wanted;
  private final Random random;
  private final Node node;
  private final Path pipe;
  private final Path log;
  private final Path away;
  private final Process reader;
  private AgentProcess agent;
  private String config;
  private boolean stopped;
  private boolean starvedAtItsStart;

  private Victim(String backend, Wanted wanted, Random random, Path place) throws IOException {
    this.backend = backend;
    this.wanted = wanted;
    this.random = random;
    node = Node.open();
    Files.createDirectory(place);
    pipe = place.resolve("pipe");
    log = place.resolve("log");
    away = node.volume().directory().resolveSibling(node.volume().directory().getFileName() + "x");
    node.namespace().run("mkfifo", pipe.toString()).ok();
    // Open for both, the pipe has no end while no agent writes.
    reader =
        new ProcessBuilder("sh", "-c", "exec cat <> \"$0\"", pipe.toString())
            .redirectOutput(log.toFile())
            .redirectError(Redirect.DISCARD)
            .start();
    config = wanted.configs().getFirst();
    node.volume().publish(config);
    agent = launch();
  }

  /** A node that is right, with an agent that runs. */
  static Victim start(String backend, Wanted wanted, Random random, Path place) {
    try {
      Victim victim = new Victim(backend, wanted, random, place);
      try {
        victim.awaitRight(Node.PATIENCE);
      } catch (AssertionError wrong) {
        victim.close();
        throw wrong;
      }
      return victim;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private AgentProcess launch() {
    List<String> start = Stream.concat(INTO_PIPE.stream(), Stream.of(pipe.toString())).toList();
    return node.startBy(start, "--backend=" + backend);
  }

  /** Lets the next fault come at any moment of what the agent does about the last one. */
  void dwell() {
    LockSupport.parkNanos(random.nextLong(LONGEST_DWELL.toNanos()));
  }

  /**
   * Ends all that still goes wrong; how long the node then takes to be right. After that it must
   * follow another config, which tells a healthy agent from rules that nothing has touched.
   */
  Duration recovery() {
    signal("CONT", agent.pid());
    signal("CONT", reader.pid());
    limitDescriptors(1024);
    restoreFile();
    Duration took = awaitRight(SOON);
    config = wanted.configs().get((wanted.configs().indexOf(config) + 1) % wanted.configs().size());
    node.volume().replace(config);
    awaitRight(SOON);
    return took;
  }

  private Duration awaitRight(Duration patience) {
    long begin = System.nanoTime();
    try {
      Eventually.within(
          patience,
          "the rules of " + config,
          () -> {
            revive();
            return State.of(node).ours();
          },
          wanted.of(config)::equals);
    } catch (AssertionError late) {
      throw new AssertionError(late.getMessage() + "\n" + agent + "\n" + log(), late);
    }
    if (!agent.running()) {
      throw new AssertionError("it ended by itself: " + agent + "\n" + log());
    }
    return Duration.ofNanos(System.nanoTime() - begin);
  }

  /** Java itself ends where it cannot open its own files at the start; the kubelet tries again. */
  private void revive() {
    if (starvedAtItsStart && !agent.running()) {
      starvedAtItsStart = false;
      agent = launch();
    }
  }

  private String log() {
    try {
      List<String> lines =
          Files.readString(log, StandardCharsets.ISO_8859_1).replace("\0", "").lines().toList();
      return String.join("\n", lines.subList(Math.max(0, lines.size() - 40), lines.size()));
    } catch (IOException e) {
      return e.toString();
    }
  }

  void kill() {
    agent.kill();
    agent.awaitExit();
    stopped = false;
    starvedAtItsStart = false;
    agent = launch();
  }

  /** A second one lets it go on. */
  void stop() {
    stopped = !stopped;
    signal(stopped ? "STOP" : "CONT", agent.pid());
  }

  private void signal(String name, long pid) {
    shell("kill -" + name + " " + pid);
  }

  void flushChain() {
    damage(
        "iptables -w 5 -t nat -F " + Expected.CHAIN, "flush chain inet ip-masq-agent postrouting4");
  }

  void deleteJump() {
    damage("iptables -w 5 -t nat -D POSTROUTING 1", "delete chain inet ip-masq-agent postrouting4");
  }

  void replaceRule() {
    damage(
        "iptables -w 5 -t nat -R " + Expected.CHAIN + " 1 -j ACCEPT",
        "insert rule inet ip-masq-agent postrouting4 accept");
  }

  void replaceTable() {
    damage(
        "printf '*nat\\n:OTHER - [0:0]\\n-A POSTROUTING -s 203.0.113.7/32 -j OTHER\\nCOMMIT\\n'"
            + " | iptables-restore -w 5",
        "flush ruleset");
  }

  void deleteTable() {
    damage("nft delete table ip nat", "delete table inet ip-masq-agent");
  }

  /** The kernel refuses what is meant for a table that the agent owns, and what is gone. */
  private void damage(String iptables, String nft) {
    shell(backend.equals("iptables") ? iptables : "nft " + nft);
  }

  private void shell(String line) {
    node.namespace().run("sh", "-c", line);
  }

  /** Nobody reads the log, and there is no room for a byte more. */
  void fillPipe() {
    signal("STOP", reader.pid());
    for (int size : List.of(4096, 1)) {
      shell("dd if=/dev/zero oflag=nonblock bs=" + size + " of=" + pipe);
    }
  }

  void goodFile() {
    List<String> all = wanted.configs();
    config = all.get(random.nextInt(all.size()));
    int way = random.nextInt(3);
    directoryBack();
    if (way == 0) {
      node.volume().publish(config);
    } else if (way == 1 && Files.isRegularFile(node.volume().file())) {
      node.volume().write(config);
    } else {
      node.volume().replace(config);
    }
  }

  private void restoreFile() {
    directoryBack();
    node.volume().replace(config);
  }

  void badFile() {
    directoryBack();
    node.volume().replace("nonMasqueradeCIDRs:\n- 10.9.0.0/16\n- 10.20");
  }

  void noFile() {
    directoryBack();
    node.volume().remove();
  }

  /** Written in pieces, with a good list at the very end. */
  void burst() {
    directoryBack();
    node.volume().remove();
    try (OutputStream out = Files.newOutputStream(node.volume().file())) {
      for (int i = 0; i < 500; i++) {
        out.write("# a line and then another one\n".repeat(50).getBytes(StandardCharsets.US_ASCII));
      }
      out.write(config.getBytes(StandardCharsets.US_ASCII));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void fifo() {
    directoryBack();
    Path beside = node.volume().directory().resolve(".fifo");
    node.namespace().run("mkfifo", beside.toString()).ok();
    move(beside, node.volume().file());
  }

  void directoryAway() {
    if (Files.exists(node.volume().directory(), LinkOption.NOFOLLOW_LINKS)) {
      move(node.volume().directory(), away);
    }
  }

  private void directoryBack() {
    if (Files.exists(away, LinkOption.NOFOLLOW_LINKS)) {
      move(away, node.volume().directory());
    }
  }

  private static void move(Path from, Path to) {
    try {
      Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Leaves the agent none but those that it holds. */
  void takeDescriptors() {
    try (Stream<Path> open = Files.list(Path.of("/proc/" + agent.pid() + "/fd"))) {
      List<Path> held = open.toList();
      starvedAtItsStart |= held.stream().noneMatch(Victim::isWatch);
      limitDescriptors(held.size());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The watch of the file is opened after the first pass. */
  private static boolean isWatch(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString().contains("inotify");
    } catch (IOException closed) {
      return false;
    }
  }

  private void limitDescriptors(long count) {
    shell("prlimit --pid " + agent.pid() + " --nofile=" + count + ":");
  }

  /** A small heap from now on, and a file that does not fit. */
  void shrinkMemory() {
    node.environment("_JAVA_OPTIONS", "-Xmx12m");
    kill();
    directoryBack();
    node.volume().replace(LARGE);
  }

  @Override
  public void close() {
    directoryBack();
    node.close();
    reader.destroyForcibly();
  }
}
