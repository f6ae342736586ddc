package ipmasq.deploy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Namespace;
import ipmasq.testkit.Result;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a release signs, checked by cosign as docs/verifying.md says, against a real registry. */
@KernelTest
class ContainerSignTest {
  private static final String IMAGE = Registry.HOST + "/net/ip-masq-agent";

  @TempDir private Path folder;
  private Namespace host;
  private BuiltImage built;
  private String cosign;

  @BeforeEach
  void open() throws Exception {
    assumeTrue(
        Files.exists(Path.of("/usr/bin/docker-registry"))
            && Files.exists(Path.of("/usr/bin/skopeo")),
        "no registry here: run `tools/needs registry` as root");
    built = BuiltImage.last();
    cosign = Kustomize.run(Project.file("tools/locked").toString(), "cosign").strip();
    host = Namespace.open("registry");
  }

  @AfterEach
  void close() {
    if (host != null) {
      host.close();
    }
  }

  @Test
  void whoHasThePublicKeyCanVerifyImageAndAttestations() throws Exception {
    try (var _ = Registry.open(host, folder)) {
      keys("ours");
      keys("another");
      registry("push").ok();
      assertTrue(verify("ours", "verify", built.digest()).exit() != 0, "not signed yet");
      registry("sign").ok();

      verify("ours", "verify", built.digest()).ok();
      assertTrue(verify("another", "verify", built.digest()).exit() != 0, "another key");
      for (var platform : built.platforms()) {
        var digest = platform.digest();
        var bom = attested(digest, "cyclonedx");
        assertTrue(
            bom.getAsJsonArray("components").toString().contains("upstream=openjdk-25"),
            "the JDK, as scanners know it");
        var provenance = attested(digest, "slsaprovenance1");
        assertTrue(provenance.toString().contains("container/packages.lock"), "the locks");
        assertEquals(
            "not_affected",
            attested(digest, "openvex")
                .getAsJsonArray("statements")
                .get(0)
                .getAsJsonObject()
                .get("status")
                .getAsString());
      }
    }
  }

  @Test
  void nothingIsSignedThatWasNotBuiltHere() throws Exception {
    try (var _ = Registry.open(host, folder)) {
      keys("ours");
      var said = registry("sign");
      assertTrue(said.exit() != 0, said.toString());
      assertTrue(verify("ours", "verify", built.digest()).exit() != 0);
    }
  }

  private void keys(String name) {
    host.run(
            "env",
            "COSIGN_PASSWORD=test",
            cosign,
            "generate-key-pair",
            "--output-key-prefix=" + folder.resolve(name))
        .ok();
  }

  private Result registry(String what) throws Exception {
    return host.runWithin(
        Duration.ofMinutes(2),
        "env",
        "COSIGN_PRIVATE_KEY=" + Files.readString(folder.resolve("ours.key")),
        "COSIGN_PASSWORD=test",
        "TLOG=false",
        Project.file("container/registry").toString(),
        what,
        Registry.HOST + "/net");
  }

  private Result verify(String key, String command, String digest, String... more) {
    var words = new ArrayList<>(List.of(cosign, command));
    words.addAll(List.of(more));
    words.addAll(
        List.of(
            "--allow-http-registry",
            "--insecure-ignore-tlog",
            "--key=" + folder.resolve(key + ".pub"),
            IMAGE + "@" + digest));
    return host.run(words.toArray(String[]::new));
  }

  /** The predicate of an attestation whose signature holds. */
  private JsonObject attested(String digest, String type) {
    var said = verify("ours", "verify-attestation", digest, "--type=" + type).ok();
    var payload = JsonParser.parseString(said).getAsJsonObject().get("payload").getAsString();
    var statement = new String(Base64.getDecoder().decode(payload), StandardCharsets.UTF_8);
    return JsonParser.parseString(statement).getAsJsonObject().getAsJsonObject("predicate");
  }
}
