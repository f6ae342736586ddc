package ipmasq.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.config.FileSnapshot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckTest {
  private static final String GOOD = "nonMasqueradeCIDRs: [10.0.0.0/8]\n";
  private static final String WARNED = "nonMasqueradeCIDRs: []\n";
  private static final String BAD = "pin: maybe\n";

  @TempDir Path directory;

  private record Answer(int exit, String out, String err) {}

  private Answer check(String stdin, String... words) {
    String[] all = Stream.concat(Stream.of("check"), Stream.of(words)).toArray(String[]::new);
    InProcess.Answer answer = InProcess.fed(stdin, all);
    return new Answer(answer.exit(), cut(answer.out()), cut(answer.err()));
  }

  private String cut(String text) {
    return text.replace(directory + "/", "");
  }

  private String file(String name, String text) throws IOException {
    return Files.writeString(directory.resolve(name), text).toString();
  }

  private static String hash(String text) {
    return FileSnapshot.of(Path.of("f"), text.getBytes(UTF_8)).hash().orElseThrow();
  }

  @Test
  void saysTheHashThatNodesReport() throws IOException {
    assertEquals(
        new Answer(
            0,
            "f: good: 1 range is not masqueraded, resync every 60s, sha256 " + hash(GOOD) + "\n",
            ""),
        check("", file("f", GOOD)));
  }

  @Test
  void readsTheStandardInput() {
    assertEquals(
        new Answer(
            0,
            "-: good: 1 range is not masqueraded, resync every 60s, sha256 " + hash(GOOD) + "\n",
            ""),
        check(GOOD, "-"));
    assertEquals(
        new Answer(
            1,
            "",
            "-:1:6: error: pin is the text \"maybe\", not a boolean (write true or false, without"
                + " quotes)\n"),
        check(BAD, "-"));
  }

  @Test
  void aWarningFailsWhereItIsToBeStrict() throws IOException {
    String file = file("f", WARNED);
    assertEquals(0, check("", file).exit());
    Answer strict = check("", "--strict", file);
    assertEquals(1, strict.exit());
    assertEquals(
        "f: not good enough for --strict: 0 ranges are not masqueraded, resync every 60s, sha256 "
            + hash(WARNED)
            + "\n",
        strict.out());
    assertEquals(0, check("", "--strict", file("g", GOOD)).exit());
  }

  @Test
  void everyOutcomeHasItsJson() throws IOException {
    Answer answer =
        check(
            "",
            "--output=json",
            file("good", GOOD),
            file("warned", WARNED),
            file("bad", BAD),
            directory.resolve("none").toString());
    assertEquals(1, answer.exit());
    assertEquals("", answer.err());
    assertEquals(
        Stream.of(
                """
                [{"file":"good","good":true,"ignoredKeys":0,"sha256":"%s","problems":[]},"""
                    .formatted(hash(GOOD)),
                """
                {"file":"warned","good":true,"ignoredKeys":0,"sha256":"%s","problems":[{"severity":"warning",\
                "file":"warned","line":1,"column":1,"message":"nonMasqueradeCIDRs is empty:\
                 everything but link-local is masqueraded","hint":"list the ranges that should see\
                 pod addresses, or remove the key for the defaults"}]},"""
                    .formatted(hash(WARNED)),
                """
                {"file":"bad","good":false,"ignoredKeys":0,"sha256":"%s","problems":[{"severity":"error",\
                "file":"bad","line":1,"column":6,"message":"pin is the text \\"maybe\\", not a\
                 boolean","hint":"write true or false, without quotes"}]},"""
                    .formatted(hash(BAD)),
                """
                {"file":"none","good":false,"ignoredKeys":0,"sha256":null,"problems":[{"severity":"error",\
                "file":"none","line":0,"column":0,"message":"there is no such file",\
                "hint":"check the path"}]}]
                """)
            .reduce("", String::concat),
        answer.out());
  }

  @Test
  void theConfigInAManifestIsChecked() throws IOException {
    String config = "nonMasqueradeCIDRs:\n  - 10.0.0.0/8\n";
    String manifest =
        """
        apiVersion: v1
        kind: ServiceAccount
        ---
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: ip-masq-agent
        data:
          config: |
            nonMasqueradeCIDRs:
              - 10.0.0.0/8
        """;
    assertEquals(
        new Answer(
            0,
            "m: good: 1 range is not masqueraded, resync every 60s, sha256 " + hash(config) + "\n",
            ""),
        check("", file("m", manifest)));
    assertEquals(
        """
        m:12:9: error: CIDR "10.0.0.1/8" is not aligned to a CIDR block, ip: "10.0.0.1" network: "10.0.0.0/8" (write "10.0.0.0/8", or "10.0.0.1/32" for one address)
        m:13:5: warning: unknown key "masqLinklocl" is ignored (did you mean masqLinkLocal?)
        """,
        check("", file("m", manifest + "      - 10.0.0.1/8\n    masqLinklocl: true\n")).err());
    assertEquals(
        """
        m:13:5: warning: pin is given twice, at m:12:5 too; this one counts (remove the other)
        """,
        check("", file("m", manifest + "    pin: false\n    pin: false\n")).err());
  }

  @Test
  void aManifestMayHoldTheConfigInQuotesOrNotAtAll() throws IOException {
    assertEquals(
        """
        m:data.config:1:6: error: pin is the text "maybe", not a boolean (write true or false, without quotes)
        """,
        check("", file("m", "{kind: ConfigMap, data: {other: x, config: \"pin: maybe\\n\"}}"))
            .err());
    assertEquals(
        """
        m:1:1: error: this ConfigMap has no key config, but confg (put the config under data.config)
        """,
        check("", file("m", "kind: ConfigMap\ndata:\n  confg: \"\"\n")).err());
  }

  @Test
  void whatWouldBeIgnoredIsSaid() throws IOException {
    String misspelled = "nonMasqueradeCIDR: [10.0.0.0/8]\nmasqLinkLocl: true\n";
    assertEquals(
        "f: good: 3 ranges are not masqueraded, resync every 60s, but 2 keys of the file were ignored:"
            + " the default list applies, sha256 "
            + hash(misspelled)
            + "\n",
        check("", file("f", misspelled)).out());
    Answer strict = check("", "--strict", file("f", misspelled));
    assertEquals(1, strict.exit());
    assertEquals("", strict.out());
    assertTrue(
        strict
            .err()
            .endsWith(
                "f: error: 2 keys of the file would be ignored, which strict forbids (correct or"
                    + " remove it, or switch strict off)\n"),
        strict.err());
    String daemonSet = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {}\nspec: {}\n";
    assertEquals(
        "f:1:1: warning: this looks like a whole DaemonSet, whose keys mean nothing here (put keys such"
            + " as \"nonMasqueradeCIDRs:\" into this file)\n",
        check("", file("f", daemonSet)).err());
    assertEquals(1, check("", "--strict", file("f", daemonSet)).exit());
  }

  @Test
  void aConfigMapThatNoAgentWouldSee() throws IOException {
    assertEquals(
        """
        m:3:9: warning: the agent mounts the ConfigMap ip-masq-agent (name it ip-masq-agent)
        m:4:14: warning: the agent runs in the namespace kube-system, and sees no other (put it into kube-system)
        m:6:3: warning: the manifest mounts the key config, not ip-masq-agent (name the key config)
        """,
        check(
                "",
                file(
                    "m",
                    """
                    kind: ConfigMap
                    metadata:
                      name: masq
                      namespace: default
                    data:
                      ip-masq-agent: "pin: false"
                    """))
            .err());
    assertEquals(
        "",
        check(
                "",
                file(
                    "m",
                    """
                    kind: ConfigMap
                    metadata: {name: ip-masq-agent-5k2f, namespace: kube-system}
                    data: {config: "pin: false"}
                    """))
            .err());
  }
}
