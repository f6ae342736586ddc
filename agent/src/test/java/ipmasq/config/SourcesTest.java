package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import ipmasq.net.Cidr;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several files as one config. */
class SourcesTest {
  @TempDir Path directory;

  private Path write(String name, String text) throws IOException {
    return Files.writeString(directory.resolve(name), text);
  }

  private Config config(Path... sources) {
    Reading reading = ConfigReader.read(List.of(sources), FlagDefaults.none());
    return assertInstanceOf(Reading.Read.class, reading, reading.toString()).config();
  }

  private String problems(Path... sources) {
    Reading reading = ConfigReader.read(List.of(sources), FlagDefaults.none());
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
    assertEquals(true, config(yes, no).masqLinkLocal());
    assertEquals(true, config(no, yes).masqLinkLocal());
    assertEquals(false, config(no, yes).randomFully());
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
    assertEquals(true, config(directory.resolve("none"), a).masqLinkLocal());
  }
}
