package ipmasq.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.config.ConfigReader;
import ipmasq.config.FlagDefaults;
import ipmasq.config.ParsedJson;
import ipmasq.config.Reading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShowConfigTest {
  @TempDir Path directory;

  private Path file(String name, String text) throws IOException {
    return Files.writeString(directory.resolve(name), text, UTF_8);
  }

  private InProcess.Answer config(String... words) {
    String[] all = new String[words.length + 1];
    all[0] = "config";
    System.arraycopy(words, 0, all, 1, words.length);
    return InProcess.answer(all);
  }

  private String cut(String text) {
    return text.replace(directory + "/", "");
  }

  @Test
  void everyValueHasItsOrigin() throws IOException {
    Path one =
        file("one", "# ranges\nnonMasqueradeCIDRs: [10.0.0.0/8, fd00::/8]\nmasqLinkLocal: true\n");
    Path two = file("two", "nonMasqueradeCIDRs:\n- 172.16.0.0/12\nmasqChain: FILE\n");
    InProcess.Answer answer =
        config(
            "--config=" + one,
            "--config=" + two,
            "--enable-ipv6",
            "--resync-interval=60",
            "--backend=nftables",
            "--to-ports=1024-2047");
    assertEquals("", answer.err());
    assertEquals(
        """
        nonMasqueradeCIDRs:  # one:2, two:1
          - "10.0.0.0/8"
          - "fd00::/8"
          - "172.16.0.0/12"
        cidrLimit: null  # default: 64; with nftables no limit
        masqLinkLocal: true  # one:3
        masqLinkLocalIPv6: false  # default
        resyncInterval: "60s"  # flag --resync-interval
        # masqueradeCIDRs: []  # default: none
        # sourceCIDRs: []  # default: any
        # outputInterface: []  # default: any
        # outputAddress: []  # default: the interface's
        enableIPv6: true  # flag --enable-ipv6
        randomFully: true  # default
        toPorts: "1024-2047"  # flag --to-ports
        masqChain: "FILE"  # two:3
        backend: "nftables"  # flag --backend
        conntrack: "keep"  # default
        pin: false  # default
        # strict: false  # default
        probation: null  # default: off
        """,
        cut(answer.out()));
    assertEquals(Main.OK, answer.exit());
  }

  @Test
  void theAnswerIsAFileThatMeansTheSame() throws IOException {
    Path written =
        file("f", "nonMasqueradeCIDRs: ['::/0', 10.0.0.0/8]\nmasqChain: 'no'\nenableIPv6: true\n");
    Path shown = file("shown", config("--config=" + written).out());
    Reading.Read before = (Reading.Read) ConfigReader.read(written, FlagDefaults.none());
    Reading.Read after = (Reading.Read) ConfigReader.read(shown, FlagDefaults.none());
    assertEquals(before.config(), after.config());
  }

  @Test
  void theAnswerIsAStrictFile() throws IOException {
    Path written = file("f", "masqLinkLocal: true\nnonMasqueradeCIDR: []\n");
    Path shown = file("shown", config("--config=" + written).out());
    InProcess.Answer answer = InProcess.answer("check", "--strict", shown.toString());
    assertEquals("", answer.err());
    assertEquals(Main.OK, answer.exit());
  }

  @Test
  void aFlagOfTheListIsNamed() throws IOException {
    Path empty = file("f", "");
    String out = config("--config=" + empty, "--nomasq-all-reserved-ranges").out();
    assertEquals(
        "nonMasqueradeCIDRs:  # flag --nomasq-all-reserved-ranges",
        out.lines().findFirst().orElseThrow());
  }

  @Test
  void scriptsGetJson() throws IOException {
    Path file = file("f", "\nmasqLinkLocal: yes\nmasqchain: X\n");
    InProcess.Answer answer = config("--config=" + file, "--backend=cni", "--output=json");
    Map<String, ?> fields = ParsedJson.map(ParsedJson.of(answer.out()));
    assertEquals(List.of("good", "problems", "config"), List.copyOf(fields.keySet()));
    Map<String, ?> config = ParsedJson.map(fields.get("config"));
    assertEquals(
        "{value=true, origin=file, places=[{file=f, line=2}]}",
        cut(String.valueOf(config.get("masqLinkLocal"))));
    assertEquals(
        "{value=cni, origin=flag, flag=backend, here=cni}", String.valueOf(config.get("backend")));
    assertEquals("{value=null, origin=default}", String.valueOf(config.get("cidrLimit")));
  }

  @Test
  void aBadFileHasNone() throws IOException {
    Path file = file("f", "pin: perhaps\n");
    InProcess.Answer text = config("--config=" + file);
    assertEquals(Main.FAILED, text.exit());
    assertEquals("", text.out());
    assertEquals(1, text.err().lines().count(), text.err());
    InProcess.Answer json = config("--config=" + file, "--output=json");
    assertEquals(Main.FAILED, json.exit());
    assertEquals("", json.err());
    Map<String, ?> fields = ParsedJson.map(ParsedJson.of(json.out()));
    assertEquals(List.of("good", "problems"), List.copyOf(fields.keySet()));
  }
}
