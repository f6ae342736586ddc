package ipmasq.deploy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.KernelTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The file VERSION is the one version; {@code tools/version} writes it where it is spelled out. */
class VersionTest {
  @Test
  void theBuildFollows() throws Exception {
    assertEquals(version(), only(Project.text("pom.xml"), "<revision>(.*)</revision>"));
  }

  @Test
  void theChartFollows() throws Exception {
    var chart = Project.text("deploy/helm/ip-masq-agent/Chart.yaml");
    assertEquals(version(), only(chart, "\nversion: (.*)\n"));
    assertEquals(version(), only(chart, "\nappVersion: (.*)\n"));
  }

  @Test
  void thePluginsManifestFollows() throws Exception {
    var krew = Project.text("deploy/krew/ip-masq.yaml");
    assertEquals("v" + version(), only(krew, "\n  version: (.*)\n"));
    assertEquals("v" + version(), only(krew, "/releases/([^/]*)/"));
  }

  @Test
  void everyManifestFollows() throws Exception {
    var image = Pattern.compile("image: (ip-masq-agent\\S*):(\\S+)");
    var found = new TreeSet<String>();
    for (var file : manifests()) {
      var matcher = image.matcher(Files.readString(file));
      while (matcher.find()) {
        assertEquals(version(), matcher.group(2), file.toString());
        found.add(matcher.group(1));
      }
    }
    assertEquals(Set.of("ip-masq-agent", "ip-masq-agent-windows"), found);
  }

  @Test
  void theReadmeNamesTheArchive() throws Exception {
    var archives = Pattern.compile("ip-masq-agent-(\\S+)\\.oci\\.tar");
    var named = new TreeSet<String>();
    archives.matcher(Project.text("README.md")).results().forEach(m -> named.add(m.group(1)));
    assertEquals(Set.of(version()), named);
  }

  @Test
  void theChangelogHasItAsTheNewestRelease() throws Exception {
    var releases =
        Pattern.compile("(?m)^## \\[([0-9].*)] - ([0-9]{4}-[0-9]{2}-[0-9]{2}|unreleased)$")
            .matcher(Project.text("CHANGELOG.md"))
            .results()
            .map(m -> m.group(1))
            .toList();
    assertEquals(version(), releases.getFirst());
  }

  @Test
  @KernelTest // needs no root, but the built agent, as those do
  void theAgentSaysIt() throws Exception {
    var process =
        new ProcessBuilder(AgentProcess.builtAgent().toString(), "--version")
            .redirectErrorStream(true)
            .start();
    var said = new String(process.getInputStream().readAllBytes()).strip();
    assertEquals(0, process.waitFor(), said);
    var commit = Files.exists(Project.file(".git")) ? " \\(commit [0-9a-f]{7,}(-dirty)?\\)" : ".*";
    assertTrue(said.matches("ip-masq-agent " + Pattern.quote(version()) + commit), said);
  }

  private static List<Path> manifests() throws IOException {
    var all = new ArrayList<>(List.of(Project.file("ip-masq-agent.yaml")));
    try (var files = Files.walk(Project.file("deploy"))) {
      files.filter(f -> f.toString().endsWith(".yaml")).forEach(all::add);
    }
    return all;
  }

  private static String only(String text, String pattern) {
    var matches = Pattern.compile(pattern).matcher(text).results().toList();
    assertEquals(1, matches.size(), pattern);
    return matches.getFirst().group(1);
  }

  private static String version() throws IOException {
    return Project.version();
  }
}
