package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.net.Cidr;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several files as one config. */
class ConfigPathsTest {
  @TempDir Path directory;

  private Path write(String name, String text) throws IOException {
    return Files.writeString(directory.resolve(name), text);
  }

  private static Reading read(ConfigPaths.IfMissing ifMissing, Path... sources) {
    return ConfigReader.read(
        new ConfigPaths(List.of(sources), ifMissing).read(), FlagDefaults.none());
  }

  private Config config(Path... sources) {
    Reading reading = read(ConfigPaths.IfMissing.DEFAULTS, sources);
    return assertInstanceOf(Reading.Read.class, reading, reading.toString()).config();
  }

  private String problems(Path... sources) {
    Reading reading = read(ConfigPaths.IfMissing.DEFAULTS, sources);
    return new Reads(directory).lines(assertInstanceOf(Reading.Rejected.class, reading).problems());
  }

  private static List<Cidr> cidrs(String... texts) {
    return List.of(texts).stream().map(Cidr::of).toList();
  }

  @Test
  void listsAreUnitedInOrderWithoutDuplicates() throws IOException {
    Path b = write("b", "nonMasqueradeCIDRs: [10.2.0.0/16, 10.1.0.0/16]\n");
    Path a = write("a", "nonMasqueradeCIDRs: [10.1.0.0/16, 10.3.0.0/16]\n");
    assertEquals(
        cidrs("10.2.0.0/16", "10.1.0.0/16", "10.3.0.0/16"), config(b, a).nonMasqueradeCidrs());
    assertEquals(
        cidrs("10.1.0.0/16", "10.3.0.0/16", "10.2.0.0/16"), config(a, b).nonMasqueradeCidrs());
  }

  @Test
  void aDirectoryIsItsFilesSortedByName() throws IOException {
    write("ip-masq-b", "nonMasqueradeCIDRs: [10.2.0.0/16]\n");
    write("ip-masq-a", "{\"nonMasqueradeCIDRs\": [\"10.1.0.0/16\"]}");
    write("other", "nonMasqueradeCIDRs: [10.3.0.0/16]\n");
    Files.createDirectory(directory.resolve("ip-masq-directory"));
    Files.createSymbolicLink(directory.resolve("ip-masq-c"), Path.of("other"));
    assertEquals(
        cidrs("10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16"), config(directory).nonMasqueradeCidrs());
  }

  @Test
  void anEmptyDirectoryIsTheDefaultsWithAWarning() {
    Reading.Read read =
        assertInstanceOf(Reading.Read.class, ConfigReader.read(directory, FlagDefaults.none()));
    assertEquals(Config.defaults(), read.config());
    assertEquals(1, read.warnings().size());
  }

  @Test
  void booleansAreOred() throws IOException {
    Path yes = write("yes", "masqLinkLocal: true\nrandomFully: false\n");
    Path no = write("no", "masqLinkLocal: false\nrandomFully: false\n");
    assertEquals(true, config(yes, no).of(Key.MASQ_LINK_LOCAL));
    assertEquals(true, config(no, yes).of(Key.MASQ_LINK_LOCAL));
    assertEquals(false, config(no, yes).of(Key.RANDOM_FULLY));
  }

  @Test
  void contradictionsNameBothFiles() throws IOException {
    Path a = write("a", "resyncInterval: 30s\nbackend: iptables\ncidrLimit: 5\n");
    Path b = write("b", "resyncInterval: 60s\nbackend: nftables\ncidrLimit: 5.0\n");
    assertEquals(
        """
        b:1:1: error: resyncInterval contradicts that of a:1:1 (give it in one file only)
        b:2:1: error: backend contradicts that of a:2:1 (give it in one file only)""",
        problems(a, b));
    assertEquals(30, config(a, write("c", "resyncInterval: 0.5m\n")).resyncInterval().toSeconds());
  }

  @Test
  void oneBadFileRejectsAll() throws IOException {
    Path good = write("good", "masqLinkLocal: true\nnonsense: 1\n");
    Path bad = write("bad", "masqLinkLocal: 7\n");
    assertEquals(
        """
        good:2:1: warning: unknown key "nonsense" is ignored
        bad:1:16: error: masqLinkLocal is the number 7, not a boolean (write true or false, without quotes)""",
        problems(good, bad));
  }

  @Test
  void theLimitCountsTheUnion() throws IOException {
    Path a = write("a", "cidrLimit: 2\nnonMasqueradeCIDRs: [10.1.0.0/16, 10.2.0.0/16]\n");
    Path same = write("b", "nonMasqueradeCIDRs: [10.2.0.0/16]\n");
    Path more = write("c", "nonMasqueradeCIDRs: [10.3.0.0/16]\n");
    assertEquals(2, config(a, same).nonMasqueradeCidrs().size());
    assertEquals(
        "c:1:1: error: the daemon can only accept up to 2 CIDRs (excluding link-local), but got 3"
            + " CIDRs (excluding link local) (raise cidrLimit, or join ranges)",
        problems(a, more));
  }

  @Test
  void checksReachAcrossFiles() throws IOException {
    Path v6 = write("v6", "nonMasqueradeCIDRs: [\"fd00::/8\"]\noutputAddress: 192.0.2.1\n");
    Path on = write("on", "enableIPv6: true\n");
    assertEquals(cidrs("fd00::/8"), config(v6, on).nonMasqueradeCidrs());
    Path both = write("both", "masqueradeCIDRs: [\"fd00::/8\"]\noutputAddress: 192.0.2.2\n");
    assertEquals(
        """
        both:1:19: error: fd00::/8 is in masqueradeCIDRs and, at v6:1:22, in nonMasqueradeCIDRs too (remove it from one of the two lists)
        both:2:16: error: outputAddress 192.0.2.2 is a second one for IPv4 (the first is at v6:2:16; write a range to give several addresses)""",
        problems(v6, on, both));
  }

  @Test
  void missingFilesAddNothing() throws IOException {
    Path a = write("a", "masqLinkLocal: true\n");
    assertEquals(true, config(directory.resolve("none"), a).of(Key.MASQ_LINK_LOCAL));
  }

  @Test
  void aNamedFileThatIsMissingIsAWarningOrAnError() throws IOException {
    Path none = directory.resolve("none");
    Reading.Read warned =
        assertInstanceOf(Reading.Read.class, read(ConfigPaths.IfMissing.WARNING, none));
    assertEquals(Config.defaults(), warned.config());
    assertEquals(
        "none: warning: there is no such file: the defaults apply (check the path)",
        new Reads(directory).lines(warned.warnings()));
    assertEquals(
        "none: error: there is no such file (check the path)",
        rejection(read(ConfigPaths.IfMissing.ERROR, none)));
    assertEquals(
        List.of(),
        assertInstanceOf(Reading.Read.class, read(ConfigPaths.IfMissing.DEFAULTS, none))
            .warnings());
  }

  @Test
  void anotherKeyOfAConfigMapIsNamed() throws IOException {
    write("config.yaml", "pin: true\n");
    Files.createDirectory(directory.resolve("..data"));
    Path file = directory.resolve("ip-masq-agent");
    String warning =
        "ip-masq-agent: warning: there is no such file, but config.yaml is: the defaults apply (give"
            + " the ConfigMap's key the name ip-masq-agent, or name its file)";
    for (ConfigPaths.IfMissing ifMissing :
        List.of(ConfigPaths.IfMissing.WARNING, ConfigPaths.IfMissing.DEFAULTS)) {
      Reading.Read read = assertInstanceOf(Reading.Read.class, read(ifMissing, file));
      assertEquals(warning, new Reads(directory).lines(read.warnings()));
    }
    assertEquals(
        directory
            + ": warning: a directory without ip-masq* files, but config.yaml is: the defaults apply"
            + " (name the files ip-masq-agent, ip-masq-more and so on)",
        new Reads(directory.resolve("x"))
            .lines(
                assertInstanceOf(Reading.Read.class, read(ConfigPaths.IfMissing.WARNING, directory))
                    .warnings()));
  }

  private String rejection(Reading reading) {
    return new Reads(directory).lines(assertInstanceOf(Reading.Rejected.class, reading).problems());
  }

  @Test
  void onlyAFileIsOpened() throws Exception {
    Path fifo = directory.resolve("fifo");
    assertEquals(0, new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor());
    Path socket = directory.resolve("socket");
    Path self = Files.createSymbolicLink(directory.resolve("self"), Path.of("self"));
    Path zero = Files.createSymbolicLink(directory.resolve("zero"), Path.of("/dev/zero"));
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(socket));
      assertEquals(
          """
          fifo: error: cannot be read: it is not a file (check the path, its links and its mount)
          socket: error: cannot be read: it is not a file (check the path, its links and its mount)
          zero: error: cannot be read: it is not a file (check the path, its links and its mount)
          self: error: cannot be read: it is a symbolic link that leads back to itself (check the path, its links and its mount)""",
          problems(fifo, socket, zero, self));
    }
    // A link to a directory is a directory.
    Files.createSymbolicLink(directory.resolve("link"), directory);
    assertInstanceOf(
        Reading.Read.class, read(ConfigPaths.IfMissing.ERROR, directory.resolve("link")));
  }

  @Test
  void aHugeFileIsNotRead() throws IOException {
    Path huge = directory.resolve("huge");
    try (RandomAccessFile file = new RandomAccessFile(huge.toFile(), "rw")) {
      file.setLength(300L << 20); // a hole: it takes no room
    }
    String problem = problems(huge);
    assertTrue(
        problem.startsWith(
            "huge: error: too large for the agent: the file is 314.6 MB, and at most "),
        problem);
    assertTrue(problem.contains("(check that it is the right file; fewer ranges, or"), problem);
  }
}
