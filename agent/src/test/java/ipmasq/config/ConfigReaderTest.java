package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import ipmasq.config.Config.BackendChoice;
import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What files of the five old keys mean. */
class ConfigReaderTest {
  @TempDir Path directory;
  private Reads reads;

  @BeforeEach
  void open() {
    reads = new Reads(directory);
  }

  @Test
  void aMissingFileIsTheBase() {
    Path file = directory.resolve("none");
    Reading.Read read =
        assertInstanceOf(Reading.Read.class, ConfigReader.read(file, FlagDefaults.none()));
    assertEquals(Config.defaults(), read.config());
    assertEquals(List.of(), read.warnings());
    assertEquals(List.of(FileSnapshot.missing(file)), read.sources());
  }

  @Test
  void theSourceSaysWhichBytesWereRead() {
    Reading reading = reads.reading("masqLinkLocal: true\n");
    // printf 'masqLinkLocal: true\n' | sha256sum
    FileSnapshot source = reading.sources().getFirst();
    assertEquals(directory.resolve("f"), source.path());
    assertEquals(
        Optional.of("e700d4f2ffc0214da31f71ba7b2a3df57d18933223fbfd9ca82f48578905a68a"),
        source.hash());
  }

  @Test
  void allKeysOfOld() {
    Config config =
        reads.config(
            """
            nonMasqueradeCIDRs: # mine
              - 10.1.0.0/16
              - "10.2.0.0/16"
            cidrLimit: 0x40
            masqLinkLocal: yes
            masqLinkLocalIPv6: on
            resyncInterval: 1h30m
            """);
    assertEquals(
        Config.defaults()
            .with(
                Key.NON_MASQUERADE_CIDRS,
                Cidrs.copyOf(List.of(Cidr.of("10.1.0.0/16"), Cidr.of("10.2.0.0/16"))))
            .with(Key.CIDR_LIMIT, OptionalLong.of(64))
            .with(Key.MASQ_LINK_LOCAL, true)
            .with(Key.MASQ_LINK_LOCAL_IPV6, true)
            .with(Key.RESYNC_INTERVAL, Duration.ofMinutes(90)),
        config);
  }

  @Test
  void nothingMeansTheDefaults() {
    for (String text :
        List.of("", "\n", "# c\n", "---\n", "null", "~", "{}", "---\n...\n", "{ }\n")) {
      assertEquals(Config.defaults(), reads.config(text), text);
      assertEquals("", reads.warnings(text), text);
    }
  }

  @Test
  void jsonIndentedByTabsAndEscaped() {
    Config config =
        reads.config(
            "{\n\t\"masqLinkLocal\":\ttrue,\n\t\"nonMasqueradeCIDRs\": [\n\t\t\"10.0.0.0\\/8\",\n"
                + "\t\t\"\\u0031\\u0031.0.0.0/8\"\n\t]\n}\n");
    assertEquals(true, config.of(Key.MASQ_LINK_LOCAL));
    assertEquals("[10.0.0.0/8, 11.0.0.0/8]", config.nonMasqueradeCidrs().toString());
  }

  @Test
  void flowYamlInBraces() {
    assertEquals(
        List.of(Cidr.of("10.0.0.0/8")),
        reads.config("{nonMasqueradeCIDRs: [10.0.0.0/8,],}").nonMasqueradeCidrs());
  }

  /** Where the Go agents leave what was there, nobody knows what was meant. */
  @Test
  void nullAfterAnotherValueInJson() {
    assertEquals(
        "f:1:23: error: masqLinkLocal is given twice, at f:1:2 too (remove one)",
        reads.problems("{\"masqLinkLocal\":true,\"masqLinkLocal\":null}"));
  }

  @Test
  void inYamlTheLastIsAllThereIs() {
    assertEquals(
        "f:2:1: warning: masqLinkLocal is given twice, at f:1:1 too; this one counts (remove the"
            + " other)",
        reads.warnings("masqLinkLocal: x\nmasqLinkLocal: true\n"));
  }

  @Test
  void twoSpellingsOfOneKey() {
    assertEquals(
        "f:2:1: warning: key \"masqlinklocal\" is taken for masqLinkLocal (write"
            + " \"masqLinkLocal\")\n"
            + "f:2:1: error: masqLinkLocal is given twice, at f:1:1 too (remove one)",
        reads.problems("masqLinkLocal: true\nmasqlinklocal: false\n"));
    assertEquals(false, reads.config("masqL\u0131nkLocal: true\n").of(Key.MASQ_LINK_LOCAL));
  }

  @Test
  void anchorsAliasesAndMerges() {
    assertEquals(
        List.of(Cidr.of("10.1.0.0/16"), Cidr.of("10.2.0.0/16")),
        reads
            .config(
                """
                x: &x {one: &one 10.1.0.0/16, list: &list [*one, 10.2.0.0/16]}
                y: *x
                nonMasqueradeCIDRs: *list
                """)
            .nonMasqueradeCidrs());
    // What comes later wins, a merge as well as a key.
    String base = "b: &b {masqLinkLocal: true}\n";
    assertEquals(true, reads.config(base + "<<: *b\n").of(Key.MASQ_LINK_LOCAL));
    assertEquals(
        false, reads.config(base + "<<: *b\nmasqLinkLocal: false\n").of(Key.MASQ_LINK_LOCAL));
    assertEquals(
        true, reads.config(base + "masqLinkLocal: false\n<<: *b\n").of(Key.MASQ_LINK_LOCAL));
    // Of several maps the first.
    assertEquals(
        true,
        reads
            .config(base + "<<: [*b, {masqLinkLocal: false, cidrLimit: 9}]\n")
            .of(Key.MASQ_LINK_LOCAL));
    // An anchor can be given anew.
    assertEquals(
        true, reads.config("a: &a false\nb: &a true\nmasqLinkLocal: *a\n").of(Key.MASQ_LINK_LOCAL));
  }

  @Test
  void tabsAndLineBreaks() {
    for (String text :
        List.of(
            "masqLinkLocal:\ttrue\n",
            "masqLinkLocal\t: \ttrue\t# c\n",
            "masqLinkLocal: !!bool\tyes\t\n",
            "nonMasqueradeCIDRs: [\n\t10.0.0.0/8\n\t]\nmasqLinkLocal: true\n",
            "cidrLimit: 5\rmasqLinkLocal: true\r",
            "cidrLimit: 5\r\nmasqLinkLocal: true\r\n")) {
      assertEquals(true, reads.config(text).of(Key.MASQ_LINK_LOCAL), text);
    }
  }

  @Test
  void encodings() {
    String text = "\ufeffmasqLinkLocal: true\n";
    assertEquals(true, reads.config(text).of(Key.MASQ_LINK_LOCAL));
    for (Charset charset : List.of(StandardCharsets.UTF_16LE, StandardCharsets.UTF_16BE)) {
      assertEquals(
          "f:1:1: error: the file is UTF-16 (save it as UTF-8; PowerShell's > writes UTF-16, |"
              + " Out-File -Encoding utf8 does not)",
          reads.problems(text.getBytes(charset)));
    }
  }

  @Test
  void theLimitFollowsTheBackend() throws IOException {
    StringBuilder list = new StringBuilder("nonMasqueradeCIDRs:\n");
    for (int i = 0; i < 65; i++) {
      list.append("- 20.0.").append(i).append(".0/24\n");
    }
    FlagDefaults none = new FlagDefaults(Config.defaults(), Set.of(), BackendChoice.NFTABLES);
    assertEquals(false, rejects(list.toString(), none));
    assertEquals(true, rejects(list + "backend: iptables\n", none));
    assertEquals(true, rejects(list + "cidrLimit: 64\n", none));
    assertEquals(true, rejects(list.toString(), FlagDefaults.none()));
    assertEquals(false, rejects(list + "backend: nftables\n", FlagDefaults.none()));
    assertEquals(true, rejects(list + "backend: nftables\ncidrLimit: 64\n", FlagDefaults.none()));
    assertEquals(false, rejects(list + "cidrLimit: 65.0\n", FlagDefaults.none()));
    assertEquals(
        false, rejects(list + "cidrLimit: null\nbackend: nftables\n", FlagDefaults.none()));
  }

  private boolean rejects(String text, FlagDefaults base) throws IOException {
    Path file = Files.writeString(directory.resolve("f"), text);
    return ConfigReader.read(file, base) instanceof Reading.Rejected;
  }

  @Test
  void aFlagWins() throws IOException {
    FlagDefaults base =
        new FlagDefaults(
            Config.defaults()
                .with(Key.MASQ_CHAIN, "FLAG")
                .with(Key.BACKEND, BackendChoice.IPTABLES),
            Set.of(Key.MASQ_CHAIN, Key.BACKEND),
            BackendChoice.IPTABLES);
    Path file = Files.writeString(directory.resolve("f"), "masqChain: FILE\nbackend: nftables\n");
    Reading.Read read = assertInstanceOf(Reading.Read.class, ConfigReader.read(file, base));
    assertEquals("FLAG", read.config().masqChain());
    assertEquals(BackendChoice.IPTABLES, read.config().backend());
    assertEquals(
        """
        f:1:1: warning: masqChain is ignored: the flag --masq-chain wins (remove the key or the flag)
        f:2:1: warning: backend is ignored: the flag --backend wins (remove the key or the flag)""",
        reads.lines(read.warnings()));
  }
}
