package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What people read when a file is not as it should be. */
class ProblemsTest {
  @TempDir Path directory;
  private Reads reads;

  @BeforeEach
  void open() {
    reads = new Reads(directory);
  }

  @Test
  void allProblemsAtOnceInTheOrderOfTheFile() {
    assertEquals(
        """
        f:1:1: warning: key "MasqLinkLocal" is taken for masqLinkLocal (write "masqLinkLocal")
        f:1:16: error: masqLinkLocal is the text "true", not a boolean (write true or false, without quotes)
        f:3:5: error: CIDR "10.0.0.1/8" is not aligned to a CIDR block, ip: "10.0.0.1" network: "10.0.0.0/8" (write "10.0.0.0/8", or "10.0.0.1/32" for one address)
        f:4:4: error: element 2 of nonMasqueradeCIDRs is empty (write a value, or remove the element)
        f:5:5: error: CIDR "abc" could not be parsed, invalid CIDR address: abc (write an address, a slash and a length, such as "10.0.0.0/8")
        f:6:5: error: ipv6 is not enabled, but ipv6 cidr fd00::/8 provided (enable it with the flag --enable-ipv6 or with "enableIPv6: true")
        f:7:5: error: CIDR "10.0.0.1" could not be parsed, invalid CIDR address: 10.0.0.1 (add the length: "10.0.0.1/32")
        f:8:5: error: element 6 of nonMasqueradeCIDRs is the number 10, not a CIDR (write an address, a slash and a length, such as "10.0.0.0/8")
        f:9:5: error: CIDR "::ffff:10.0.0.0/104" is IPv4 written as IPv6, which matches no packet (write it as IPv4, such as "10.0.0.0/8")
        f:10:17: error: resyncInterval is the number 60, not a duration (write "60s")
        f:11:12: error: cidrLimit is the text "many", not a whole number from 0 on (write a number such as 64)
        f:12:1: warning: unknown key "nonMasqueradeCIDR" is ignored (did you mean nonMasqueradeCIDRs?)""",
        reads.problems(
            """
            MasqLinkLocal: "true"
            nonMasqueradeCIDRs:
              - 10.0.0.1/8
              -
              - abc
              - fd00::/8
              - 10.0.0.1
              - 10
              - ::ffff:10.0.0.0/104
            resyncInterval: 60
            cidrLimit: many
            nonMasqueradeCIDR: [{a: b}, [[]]]
            """));
  }

  @Test
  void theLimit() {
    assertEquals(
        "f:1:1: error: the daemon can only accept up to 2 CIDRs (excluding link-local), but got 3"
            + " CIDRs (excluding link local) (raise cidrLimit, or join ranges)",
        reads.problems("cidrLimit: 2\n"));
    String many = "nonMasqueradeCIDRs: [" + "10.0.0.0/8, ".repeat(65) + "]\n";
    assertTrue(
        reads
            .problems(many)
            .contains(
                "but got 65 CIDRs (excluding link local) (choose \"backend: nftables\", which takes"
                    + " any number; or raise cidrLimit, or join ranges)"));
  }

  @Test
  void theTopOfTheFile() {
    String hint = ", not keys with values (write keys such as \"nonMasqueradeCIDRs:\")";
    assertEquals("f:1:1: error: the top of the file is a list" + hint, reads.problems("- a\n"));
    assertEquals("f:2:1: error: the top of the file is a list" + hint, reads.problems("\n[]"));
    assertEquals(
        "f:1:1: error: the top of the file is the text \"a b\"" + hint, reads.problems("a b\n"));
    assertEquals("f:1:1: error: the top of the file is the number 5" + hint, reads.problems("5"));
    assertEquals(
        "f:1:1: error: the top of the file is the boolean no" + hint, reads.problems("no"));
  }

  @Test
  void syntaxInOnePlainLine() {
    assertEquals(
        "f:2:1: error: a tab cannot indent (use spaces: YAML takes no tabs there)",
        reads.problems("nonMasqueradeCIDRs:\n\t- 10.0.0.0/8\n"));
    assertEquals(
        "f:1:23: error: not YAML: the bracket is not closed (close it)",
        reads.problems("{\"nonMasqueradeCIDRs\":[\"10.0.0.0/8\""));
    assertEquals(
        "f:1:21: error: not YAML: found undefined alias nope (define it above, with & and its name)",
        reads.problems("nonMasqueradeCIDRs: *nope\n"));
    assertEquals(
        "f:1:6: error: pin is a list, not a boolean (write true or false, without quotes)",
        reads.problems("pin: &a [*a]\n"));
    assertEquals(
        "f:3:2: error: not YAML: the indentation does not fit the lines above (indent the keys alike,"
            + " and the elements of a list alike)",
        reads.problems("nonMasqueradeCIDRs:\n  - 10.0.0.0/8\n masqLinkLocal: true\n"));
    assertEquals(
        "f:1:1: error: not YAML: the bracket is not closed, or a comma is missing before 3:14 (write"
            + " the comma, or the closing bracket after the last element)",
        reads.problems("{\n  \"pin\": true\n  \"cidrLimit\": 5\n}"));
    assertEquals(
        "f:1:24: error: something follows the closing brace (remove it)",
        reads.problems("{\"masqLinkLocal\":true} x"));
    for (String bad :
        List.of("pin: [", "pin: \"", "pin: @x", "%YAML 3.0\n---\npin: on", "pin: 'x")) {
      String problem = reads.problems(bad);
      assertEquals(1, problem.lines().count(), problem);
      assertTrue(problem.startsWith("f:"), problem);
      assertTrue(problem.contains(": error: not YAML: "), problem);
    }
  }

  @Test
  void whatIsNotText() {
    assertEquals(
        "f:2:3: error: control characters are not allowed, found \"\\u0000\" (the file must be plain"
            + " text)",
        reads.problems("a: b\nc:\0\n"));
    byte[] latin1 = "a: b\n\u20acx: \u00e9\n".getBytes(StandardCharsets.UTF_8);
    latin1[latin1.length - 3] = (byte) 0xe9;
    latin1[latin1.length - 2] = 'x';
    assertEquals("f:2:5: error: not valid UTF-8 (save the file as UTF-8)", reads.problems(latin1));
    // A replacement character that is really in the file is no error.
    assertEquals("", reads.warnings("# \ufffd\n"));
  }

  @Test
  void emptyLists() {
    String warning =
        "f:1:1: warning: nonMasqueradeCIDRs is empty: everything but link-local is masqueraded (list"
            + " the ranges that should see pod addresses, or remove the key for the defaults)";
    assertEquals(warning, reads.warnings("nonMasqueradeCIDRs:\n"));
    assertEquals(warning, reads.warnings("nonMasqueradeCIDRs: []\n"));
  }

  @Test
  void wholeConfigMap() {
    assertEquals(
        "f:1:1: warning: this looks like a whole ConfigMap, whose keys mean nothing here (put the"
            + " content of its data.config key into this file)",
        reads.warnings(
            """
            apiVersion: v1
            kind: ConfigMap
            metadata:
              name: ip-masq-agent
            data:
              config: |
                nonMasqueradeCIDRs: []
            """));
    assertEquals("f:1:1: warning: unknown key \"kind\" is ignored", reads.warnings("kind: x\n"));
  }

  @Test
  void moreDocuments() {
    assertEquals(
        "f:2:1: warning: another document begins here; only the first is read (remove the line"
            + " \"---\" to make them one)",
        reads.warnings("masqLinkLocal: true\n---\nmasqLinkLocal: [}\n"));
  }

  @Test
  void tinyIntervals() {
    assertEquals(
        "f:1:17: warning: resyncInterval is \"1ns\", raised to 100ms (write at least 100ms)",
        reads.warnings("resyncInterval: 1ns\n"));
    assertEquals(
        "f:1:17: error: resyncInterval is the text \"-5s\", but must be more than zero (write \"60s\")",
        reads.problems("resyncInterval: -5s\n"));
  }

  @Test
  void oddKeys() {
    assertEquals(
        "f:1:3: error: a key is a list, not text (write a name)",
        reads.problems("? [a, b]\n: 2\nmasqLinkLocal: true\n"));
    assertEquals("f:1:1: error: a key is empty, not text (write a name)", reads.problems("~: 2\n"));
    assertEquals(
        "f:1:5: error: map merge requires map or sequence of maps as the value (write << with an"
            + " alias of a map, such as \"<<: *common\")",
        reads.problems("<<: 5\n"));
  }

  @Test
  void onlyTheFirstFewAreKept() {
    List<String> lines =
        reads.problems("nonMasqueradeCIDRs:\n" + "- x\n".repeat(50)).lines().toList();
    assertEquals(21, lines.size());
    assertEquals("f: error: and 30 more errors", lines.getLast());
  }

  @Test
  void aFileThatCannotBeRead() throws IOException {
    Path file = Files.writeString(directory.resolve("plain"), "x");
    Reading reading = ConfigReader.read(file.resolve("below"), FlagDefaults.none());
    assertTrue(
        reading instanceof Reading.Rejected(var problems, _)
            && problems.getFirst().toString().contains("cannot be read: "),
        reading.toString());
  }

  /** What people do wrong most, and what they then read. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "nonMasqueradeCIDRs: \"10.0.0.0/8,172.16.0.0/12\" | f:1:21: error: nonMasqueradeCIDRs is the"
            + " text \"10.0.0.0/8,172.16.0.0/12\", not a list (write a list: [\"10.0.0.0/8\","
            + " \"172.16.0.0/12\"])",
        "nonMasqueradeCIDRs: [\"10.0.0.0/8,172.16.0.0/12\"] | f:1:22: error: CIDR"
            + " \"10.0.0.0/8,172.16.0.0/12\" could not be parsed, invalid CIDR address:"
            + " 10.0.0.0/8,172.16.0.0/12 (write one range per element: \"10.0.0.0/8\","
            + " \"172.16.0.0/12\")",
        "nonMasqueradeCIDRs: [fd00::/129] | f:1:22: error: CIDR \"fd00::/129\" could not be parsed,"
            + " invalid CIDR address: fd00::/129 (the length of an IPv6 range is a number from 0 to"
            + " 128)",
        "nonMasqueradeCIDRs: [10.0.0.0/33] | f:1:22: error: CIDR \"10.0.0.0/33\" could not be"
            + " parsed, invalid CIDR address: 10.0.0.0/33 (the length of an IPv4 range is a number"
            + " from 0 to 32)",
        "cidrLimit: -1 | f:1:12: error: cidrLimit is the number -1, not a whole number from 0 on"
            + " (write a number such as 64)",
        "nonMasqueradeCIDRs:~  - 10.0.0.0/8~  172.16.0.0/12~ | f:3:3: error: not YAML: \"172.16.0.0/12\" is neither"
            + " a key with its colon nor in a list (write \"- \" before an element of a list, and"
            + " \": \" after a key)",
        "nonMasqueradeCIDRs:~-10.0.0.0/8~ | f:2:1: error: not YAML: \"-10.0.0.0/8\" is neither"
            + " a key with its colon nor in a list (write \"- \" before an element of a list, and"
            + " \": \" after a key)",
        "nonMasqueradeCIDRs: []~masqLinkLocal~ | f:2:1: error: not YAML: \"masqLinkLocal\" is neither"
            + " a key with its colon nor in a list (write \"- \" before an element of a list, and"
            + " \": \" after a key)",
        "{~  // mine~  \"pin\": true~} | f:1:1: error: not YAML: the bracket is not closed, or a comma"
            + " is missing before 3:8 (a comment begins with #)",
        "{\"pin\": true, // mine~ \"cidrLimit\": 5~} | f:1:1: error: not YAML: the bracket is not"
            + " closed, or a comma is missing before 2:13 (a comment begins with #)",
        "nonMasqueradeCIDRs: [10.0.0.0/8, 172.16.0.0/12~masqLinkLocal: true~ | f:1:21: error: not YAML: the"
            + " bracket is not closed, or a comma is missing before 2:14 (write the"
            + " comma, or the closing bracket after the last element)",
        "nonMasqueradeCIDRs: [10.0.0.0/8~ | f:1:21: error: not YAML: the bracket is not closed (close"
            + " it)",
        "nonMasqueradeCIDRs:~  10.0.0.0/8~  - 172.16.0.0/12~ | f:2:3: error: nonMasqueradeCIDRs is"
            + " the text \"10.0.0.0/8 - 172.16.0.0/12\", not a list (a dash is missing: \"-"
            + " 10.0.0.0/8\")",
        "{\"nonMasqueradeCIDRs\": [\"10.0.0.0/8\"~, \"pin\": true} | f:1:24: error: not YAML: the"
            + " bracket is not closed, or a comma is missing before 2:14 (write the"
            + " comma, or the closing bracket after the last element)",
        "{\"nonMasqueradeCIDRs\": [\"10.0.0.0/8\"~} | f:1:24: error: not YAML: the"
            + " bracket is not closed, or a comma is missing before 2:1 (write the"
            + " comma, or the closing bracket after the last element)",
        "{~  /* mine */ \"pin\": true,~ x: y, strict: 1} | f:3:16: error: strict is the number 1, not"
            + " a boolean (write true or false, without quotes)",
        "// mine~pin: true~ | f:2:4: error: not YAML: mapping values are not allowed here (a"
            + " comment begins with #)",
        "masqChain: \"X~pin: true~ | f:1:12: error: not YAML: the quote is not closed (close it)",
      })
  void hints(String text, String problem) {
    List<String> errors =
        reads.problems(text.replace('~', '\n')).lines().filter(l -> l.contains("error")).toList();
    assertEquals(List.of(problem.strip()), errors);
  }

  @Test
  void whatHasNoEffectIsWarnedOf() {
    assertEquals(
        """
        f:1:46: warning: 10.0.0.0/8 is in nonMasqueradeCIDRs twice; the first is at f:1:22 (remove one of the two)
        f:2:32: warning: 11.0.0.0/16 in masqueradeCIDRs has no effect: it lies in no range of nonMasqueradeCIDRs (remove it: what is not exempt is masqueraded anyway)""",
        reads.warnings(
            """
            nonMasqueradeCIDRs: [10.0.0.0/8, 12.0.0.0/8, 10.0.0.0/8]
            masqueradeCIDRs: [10.1.0.0/16, 11.0.0.0/16, 169.254.1.0/24]
            """));
  }

  /** Valid, and yet hardly what anybody wants. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "nonMasqueradeCIDRs: [0.0.0.0/0] | f:1:22: warning: 0.0.0.0/0 exempts every IPv4 address:"
            + " nothing is masqueraded (list only the ranges that should see pod addresses)",
        "nonMasqueradeCIDRs: ['::/0', 10.0.0.0/8]~enableIPv6: true | f:1:22: warning: ::/0 exempts"
            + " every IPv6 address: nothing is masqueraded (list only the ranges that should see pod"
            + " addresses)",
        "nonMasqueradeCIDRs: [0.0.0.0/0]~masqueradeCIDRs: [20.0.0.0/8] | ''",
        "enableIPv6: true | f:1:1: warning: IPv6 is enabled, but nonMasqueradeCIDRs has no IPv6"
            + " range: all IPv6 traffic but link-local is masqueraded, that between pods too (list the"
            + " IPv6 ranges of pods and nodes, such as \"fd00::/8\")",
        "enableIPv6: true~sourceCIDRs: [10.0.0.0/8] | ''",
      })
  void dangerousButValid(String text, String warning) {
    assertEquals(warning.strip(), reads.warnings(text.replace('~', '\n')));
  }

  @Test
  void ipv6ByAFlagWithoutARange() {
    FlagDefaults ipv6 = FlagDefaults.none().with(Key.ENABLE_IPV6, true, true);
    for (String text : List.of("masqLinkLocal: true\n", "enableIPv6: true\n")) {
      Reading reading = reads.reading(text.getBytes(StandardCharsets.UTF_8), ipv6);
      List<Problem> warnings = assertInstanceOf(Reading.Read.class, reading).warnings();
      assertEquals(1, warnings.size(), warnings.toString());
      assertTrue(warnings.getFirst().message().startsWith("IPv6 is enabled, but"), text);
    }
  }

  @Test
  void manyRangesForIptables() {
    StringBuilder text = new StringBuilder("cidrLimit: 100\nnonMasqueradeCIDRs:\n");
    for (int i = 0; i < 65; i++) {
      text.append("- 20.0.").append(i).append(".0/24\n");
    }
    assertEquals(
        "f:2:1: warning: 65 ranges mean 65 rules, which iptables checks one by one for each new"
            + " connection (choose \"backend: nftables\", which looks them up at once, or join"
            + " ranges)",
        reads.warnings(text.toString()));
    assertEquals("", reads.warnings(text + "backend: nftables\n"));
  }

  /** What wikis and word processors make of a file. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "nonMasqueradeCIDRs:~  \u2013 10.0.0.0/8 | f:2:3 | a typographic dash for a plain -",
        "nonMasqueradeCIDRs:~\u2013 10.0.0.0/8~\u2013 11.0.0.0/8 | f:2:1 | a typographic dash for a"
            + " plain -",
        "nonMasqueradeCIDRs:~  -\u00a010.0.0.0/8 | f:2:3 | a no-break space for a plain one",
        "nonMasqueradeCIDRs:~\u00a0 - 10.0.0.0/8 | f:2:1 | a no-break space for a plain one",
        "masqLinkLocal:\u00a0true | f:1:1 | a no-break space for a plain one",
        "nonMasqueradeCIDRs: [10.0.0.0/8\u00a0] | f:1:22 | a no-break space for a plain one",
        "nonMasqueradeCIDRs: [\u201c10.0.0.0/8\u201d] | f:1:22 | typographic quotes for plain ones",
        "nonMasqueradeCIDRs:~- \u201810.0.0.0/8\u2019 | f:2:3 | typographic quotes for plain ones",
        "resyncInterval: \u201c60s\u201d | f:1:17 | typographic quotes for plain ones",
      })
  void pastedFromAWiki(String text, String place, String what) {
    String problem = reads.problems(text.replace('~', '\n'));
    assertTrue(problem.startsWith(place + ": error: "), problem);
    assertTrue(
        problem.endsWith("(this line has " + what + ", as text from a wiki does: type it again)"),
        problem);
    // A comment may have them.
    assertTrue(!reads.problems("pin: x # a \u2013 b\n").contains("wiki"));
  }

  @Test
  void whatIsIgnoredIsCounted() {
    assertEquals(Reading.Gap.NONE, gap("masqLinkLocal: true\n"));
    assertEquals(
        new Reading.Gap(1, "1 key of the file was ignored: the default list applies"),
        gap("nonMasqueradeCIDR: [10.0.0.0/8]\n"));
    assertEquals(
        new Reading.Gap(2, "2 keys of the file were ignored"),
        gap("nonMasqueradeCIDRs: [10.0.0.0/8]\na: 1\nb: 2\n"));
    assertEquals(
        new Reading.Gap(3, "3 keys of the file were ignored: the default list applies"),
        gap("apiVersion: v1\nkind: ConfigMap\ndata: {config: x}\n"));
    assertEquals(
        new Reading.Gap(0, "all but the first document of the file was ignored"),
        gap("nonMasqueradeCIDRs: [10.0.0.0/8]\n---\ncidrLimit: 5\n"));
  }

  private Reading.Gap gap(String text) {
    return assertInstanceOf(Reading.Read.class, reads.reading(text)).gap();
  }

  @Test
  void aStrictFileIgnoresNothing() {
    assertEquals(
        """
        f:2:1: warning: unknown key "pinn" is ignored (did you mean pin?)
        f: error: 1 key of the file would be ignored, which strict forbids (correct or remove it, or switch strict off)""",
        reads.problems("strict: true\npinn: true\n"));
    assertEquals("", reads.warnings("strict: true\npin: false\n"));
  }

  @Test
  void aProbationIsADurationOrNone() {
    assertEquals(Optional.empty(), reads.config("").of(Key.PROBATION));
    assertEquals(Optional.empty(), reads.config("probation: null\n").of(Key.PROBATION));
    assertEquals(
        Optional.of(Duration.ofMinutes(10)), reads.config("probation: 10m\n").of(Key.PROBATION));
    assertTrue(reads.problems("probation: 0s\n").contains("but must be more than zero"));
    assertTrue(reads.problems("probation: 10\n").contains("(write \"10s\")"));
  }
}
