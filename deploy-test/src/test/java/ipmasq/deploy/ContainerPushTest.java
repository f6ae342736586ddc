package ipmasq.deploy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonParser;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Namespace;
import ipmasq.testkit.Result;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code make push} does once the image is built, against a real registry. */
@KernelTest
class ContainerPushTest {
  /** Compressed, for each architecture: what a new node fetches. Debian's JDK needs libstdc++. */
  private static final long MOST = 28_000_000;

  @TempDir private Path folder;
  private Namespace host;
  private BuiltImage built;
  private String image;

  @BeforeEach
  void open() throws Exception {
    assumeTrue(
        Files.exists(Path.of("/usr/bin/docker-registry"))
            && Files.exists(Path.of("/usr/bin/skopeo")),
        "no registry here: run `tools/needs registry` as root");
    built = BuiltImage.last();
    image = Registry.HOST + "/net/ip-masq-agent:" + built.tag();
    host = Namespace.open("registry");
  }

  @AfterEach
  void close() {
    if (host != null) {
      host.close();
    }
  }

  @Test
  void whatComesBackIsWhatWasBuilt() throws Exception {
    try (var _ = Registry.open(host, folder)) {
      var said = push(Registry.HOST + "/net", "{}");
      assertEquals(0, said.exit(), said.toString());
      assertTrue(said.stdout().contains("net/ip-masq-agent@" + built.digest()), said.toString());

      var raw = Registry.look(host, image, "--raw").ok();
      assertEquals(built.digest(), "sha256:" + sha256(raw));
      for (var platform : built.platforms()) {
        var seen =
            Registry.look(host, image, "--config", "--override-arch=" + platform.architecture());
        var config = JsonParser.parseString(seen.ok()).getAsJsonObject();
        assertEquals(platform.config(), config);
        var labels = config.getAsJsonObject("config").getAsJsonObject("Labels");
        assertEquals(built.tag(), labels.get("org.opencontainers.image.version").getAsString());
      }

      var manifest = registry("manifest", Registry.HOST + "/net", "{}").ok();
      assertEquals(
          Project.text("ip-masq-agent.yaml")
              .replace(
                  "image: ip-masq-agent:" + built.tag(),
                  "image: " + Registry.HOST + "/net/ip-masq-agent@" + built.digest()),
          manifest);

      var back = folder.resolve("back");
      host.run(
              "skopeo",
              "copy",
              "--all",
              "--src-tls-verify=false",
              "docker://" + image,
              "oci:" + back + ":back")
          .ok();
      assertEquals(BuiltImage.blobs(), BuiltImage.blobs(back));
    }
  }

  @Test
  void pushesToWhoIsLoggedIn() throws Exception {
    try (var registry = Registry.guarded(host, folder)) {
      var before = push(Registry.HOST + "/net", "{}");
      assertEquals(1, before.exit(), before.toString());
      assertTrue(before.stderr().contains("authentication required"), before.toString());
      assertTrue(Files.notExists(folder.resolve("images")), "nothing has come");

      host.run(
              "skopeo",
              "login",
              "--tls-verify=false",
              "--authfile=" + folder.resolve("auth.json"),
              "--username=docker",
              "--password=" + registry.password(),
              Registry.HOST)
          .ok();
      var after = push(Registry.HOST + "/net", Files.readString(folder.resolve("auth.json")));
      assertEquals(0, after.exit(), after.toString());
    }
  }

  @Test
  void saysWhenNoRegistryAnswers() throws Exception {
    var said = push(Registry.HOST + "/net", "{}");
    assertEquals(1, said.exit(), said.toString());
    assertTrue(said.stderr().contains("connection refused"), said.toString());
    assertTrue(said.stderr().endsWith("not pushed\n"), said.toString());
  }

  @Test
  void noManifestForAnImageThatWasNotPushed() throws Exception {
    try (var _ = Registry.open(host, folder)) {
      var said = registry("manifest", Registry.HOST + "/elsewhere", "{}");
      assertEquals(1, said.exit(), said.toString());
      assertEquals("", said.stdout());
      assertTrue(
          said.stderr()
              .endsWith(
                  "no localhost:5000/elsewhere/ip-masq-agent:"
                      + built.tag()
                      + " there: make push REGISTRY=localhost:5000/elsewhere\n"),
          said.toString());
    }
  }

  @Test
  void refusesWhatIsNoRegistry() throws Exception {
    for (var name :
        List.of("", "https://registry.example/net", "registry.example/net:v1", "r.example/Net")) {
      for (var what : List.of("check", "push")) {
        var said = registry(what, name, "{}");
        assertEquals(2, said.exit(), said.toString());
        assertTrue(said.stderr().contains("\"" + name + "\" is no registry"), said.toString());
      }
    }
  }

  @Test
  void theImageIsSmall() {
    for (var platform : built.platforms()) {
      assertTrue(platform.bytes() <= MOST, platform.architecture() + ": " + platform.bytes());
    }
  }

  private Result push(String registry, String logins) throws Exception {
    return registry("push", registry, logins);
  }

  /** As make calls it, by somebody who has logged in where these logins say. */
  private Result registry(String what, String registry, String logins) throws Exception {
    var file = folder.resolve("logins.json");
    Files.writeString(file, logins);
    return host.run(
        "env",
        "REGISTRY_AUTH_FILE=" + file,
        Project.file("container/registry").toString(),
        what,
        registry);
  }

  private static String sha256(String text) throws Exception {
    return HexFormat.of()
        .formatHex(
            MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
  }
}
