package ipmasq.faults;

import static java.net.StandardProtocolFamily.UNIX;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.e2e.Expected;
import ipmasq.e2e.Node;
import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Result;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Files that cannot be read, and disks that are full. */
@KernelTest
@Tag("fault")
@Execution(ExecutionMode.CONCURRENT)
class FilesTest {
  private static final String NARROW = "nonMasqueradeCIDRs: [10.9.0.0/16]\n";
  private static final List<String> NARROW_RULES =
      Expected.rules(Expected.LINK_LOCAL, "10.9.0.0/16");

  /** Even root needs the right to read what is not meant for it. */
  private static final List<String> WITHOUT_OVERRIDE =
      List.of("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all");

  @Test
  void aFileThatMayNotBeReadIsABadFile() throws IOException {
    try (Node node = Node.open()) {
      node.volume().replace(NARROW);
      AgentProcess agent = node.startBy(WITHOUT_OVERRIDE, "--resync-interval=1");
      Node.awaitFirstPass(agent);
      assertEquals(NARROW_RULES, node.rules(Family.IPV4));
      Path beside = node.volume().directory().resolve(".beside");
      Files.writeString(beside, "");
      Files.setPosixFilePermissions(beside, PosixFilePermissions.fromString("---------"));
      Files.move(beside, node.volume().file(), StandardCopyOption.ATOMIC_MOVE);
      agent.awaitLine(line -> line.contains("cannot be read: permission denied"));
      node.iptables(Family.IPV4, "-F " + Expected.CHAIN);
      node.awaitRules(Family.IPV4, NARROW_RULES);
      node.volume().replace("");
      node.awaitRules(Family.IPV4, Expected.DEFAULTS);
    }
  }

  @Test
  void aDirectoryInItsPlaceIsReadAsOne() throws IOException {
    try (Node node = Node.open()) {
      node.volume().write(NARROW);
      AgentProcess agent = node.running("--resync-interval=1");
      node.volume().remove();
      Files.createDirectory(node.volume().file());
      agent.awaitLine(line -> line.contains("a directory without ip-masq* files"));
      node.awaitRules(Family.IPV4, Expected.DEFAULTS);
      Files.writeString(node.volume().file().resolve("ip-masq-agent"), NARROW);
      node.awaitRules(Family.IPV4, NARROW_RULES);
    }
  }

  @Test
  void aLinkThatLeadsNowhereOrInCirclesIsSaid() throws IOException {
    try (Node node = Node.open()) {
      node.volume().write(NARROW);
      AgentProcess agent = node.running("--resync-interval=1");
      node.volume().remove();
      Files.createSymbolicLink(node.volume().file(), node.volume().file());
      agent.awaitLine(line -> line.contains("cannot be read"));
      assertEquals(NARROW_RULES, node.rules(Family.IPV4));
    }
  }

  /** To open a FIFO would wait for a writer, and a device may never end. */
  @Test
  void whatIsNoFileIsABadFileAndStopsNothing() throws IOException {
    try (Node node = Node.open()) {
      node.volume().write(NARROW);
      AgentProcess agent = node.running("--resync-interval=1");
      Path beside = node.volume().directory().resolve(".beside");
      assertEquals(0, node.namespace().run("mkfifo", beside.toString()).exit());
      Files.move(beside, node.volume().file(), StandardCopyOption.ATOMIC_MOVE);
      agent.awaitLine(line -> line.contains("cannot be read: it is not a file"));
      Files.createSymbolicLink(beside, Path.of("/dev/zero"));
      Files.move(beside, node.volume().file(), StandardCopyOption.ATOMIC_MOVE);
      flushAndAwait(node);
      try (var _ = ServerSocketChannel.open(UNIX).bind(UnixDomainSocketAddress.of(beside))) {
        Files.move(beside, node.volume().file(), StandardCopyOption.ATOMIC_MOVE);
        flushAndAwait(node);
      }
      agent.terminate();
      assertEquals(0, agent.awaitExit());
    }
  }

  private static void flushAndAwait(Node node) {
    node.iptables(Family.IPV4, "-F " + Expected.CHAIN);
    node.awaitRules(Family.IPV4, NARROW_RULES);
  }

  @Test
  void aListThatIsBeingWrittenDropsNoRange() {
    try (Node node = Node.open()) {
      List<String> ranges =
          List.of("10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16", "10.4.0.0/16", "10.5.0.0/16");
      String whole = "nonMasqueradeCIDRs: [" + String.join(", ", ranges) + "]\n";
      node.volume().write(whole);
      AgentProcess agent = node.running("--resync-interval=1");
      node.volume().write("nonMasqueradeCIDRs:\n");
      node.volume().write(whole + "masqLinkLocal: true\n");
      node.awaitRules(Family.IPV4, Expected.rules(ranges.toArray(String[]::new)));
      assertTrue(
          agent.stderr().stream().noneMatch(line -> line.contains("-10.1.0.0/16")),
          agent.toString());
      // What is meant takes effect all the same.
      node.volume().write("nonMasqueradeCIDRs: []\n");
      node.awaitRules(Family.IPV4, Expected.rules(Expected.LINK_LOCAL));
    }
  }

  /** Nobody deleted the file: what was mounted is gone with its mount. */
  @Test
  void aVolumeThatIsUnmountedLeavesItsConfigInForce() throws IOException {
    try (Node node = Node.open()) {
      String directory = node.volume().directory().toString();
      String mount =
          "mount -t tmpfs tmpfs %1$s && echo '%2$s' > %1$s/ip-masq-agent && exec \"$@\""
              .formatted(directory, NARROW.strip());
      AgentProcess agent =
          node.startBy(List.of("unshare", "--mount", "/bin/sh", "-c", mount, "sh"));
      Node.awaitFirstPass(agent);
      assertEquals(NARROW_RULES, node.rules(Family.IPV4));
      String pid = String.valueOf(agent.pid());
      assertEquals(
          0, node.namespace().run("nsenter", "-t", pid, "-m", "umount", "-l", directory).exit());
      agent.awaitLine(line -> line.contains(directory + " is not mounted any more"));
      node.iptables(Family.IPV4, "-F " + Expected.CHAIN);
      node.awaitRules(Family.IPV4, NARROW_RULES);
    }
  }

  /** A writer whose disk is full leaves half a file. */
  @Test
  void halfAFileIsABadFile() {
    try (Node node = Node.open()) {
      node.volume().write(NARROW);
      AgentProcess agent = node.running("--resync-interval=1");
      node.volume().write("nonMasqueradeCIDRs:\n- 10.9.0.0/16\n- 10.20");
      agent.awaitLine(line -> line.contains("the last good one stays in force"));
      assertEquals(NARROW_RULES, node.rules(Family.IPV4));
    }
  }

  @Test
  void aLogThatNobodyCanWriteIsNoReasonToStop() {
    try (Node node = Node.open()) {
      AgentProcess agent =
          node.startBy(List.of("/bin/sh", "-c", "exec \"$@\" 2>/dev/full >/dev/full", "sh"));
      node.awaitRules(Family.IPV4, Expected.DEFAULTS);
      node.volume().publish(NARROW);
      node.awaitRules(Family.IPV4, NARROW_RULES);
      agent.terminate();
      assertEquals(0, agent.awaitExit());
    }
  }

  /** The only files that the agent writes are CNI configs: a full disk leaves the old one. */
  @Test
  void aFullDiskLeavesTheCniConfigAsItWas() throws IOException {
    try (Node node = Node.open()) {
      Path place = Files.createDirectory(node.volume().directory().resolve("..cni"));
      node.volume().write(NARROW);
      // Mounted where nobody else sees it, and gone with the shell.
      String script =
          """
          mount -t tmpfs -o size=16k tmpfs %1$s
          cp "$1" %1$s/net.conf
          dd if=/dev/zero of=%1$s/full bs=4k 2>/dev/null
          shift
          "$@" --cni-config=%1$s/net.conf
          echo "status $?"
          ls %1$s
          cat %1$s/net.conf
          """
              .formatted(place);
      Path conf =
          Path.of(
              System.getProperty("ipmasq.project"),
              "cni/src/test/resources/cni/cbr0-win-bridge.conf");
      Result result =
          node.namespace()
              .run(
                  "unshare",
                  "-m",
                  "/bin/sh",
                  "-c",
                  script,
                  "sh",
                  conf.toString(),
                  AgentProcess.builtAgent().toString(),
                  "--config=" + node.volume().file(),
                  "--backend=cni",
                  "apply");
      assertTrue(result.stdout().contains("status 1\nfull\nnet.conf\n"), result::toString);
      assertTrue(result.stdout().endsWith(Files.readString(conf)), result::toString);
      assertTrue(result.stderr().contains("No space left on device"), result::toString);
    }
  }
}
