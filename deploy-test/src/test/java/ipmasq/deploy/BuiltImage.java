package ipmasq.deploy;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** The OCI layout that the last build has left under dist. */
record BuiltImage(String tag, String digest, List<Platform> platforms) {
  private static final Path LAYOUT = Project.file("dist/container");

  BuiltImage {
    platforms = List.copyOf(platforms);
  }

  /** One architecture of it. */
  record Platform(String architecture, String digest, JsonObject manifest, JsonObject config) {
    List<Path> layers() {
      return manifest.getAsJsonArray("layers").asList().stream()
          .map(l -> blob(l.getAsJsonObject().get("digest").getAsString()))
          .toList();
    }

    /** What a node fetches. */
    long bytes() {
      return manifest.getAsJsonArray("layers").asList().stream()
          .mapToLong(l -> l.getAsJsonObject().get("size").getAsLong())
          .sum();
    }
  }

  /** Reads it; skips where there is none. */
  static BuiltImage last() throws IOException {
    assumeTrue(Files.exists(LAYOUT.resolve("index.json")), "no image under dist: make container");
    var entry = manifests(json(LAYOUT.resolve("index.json"))).getFirst();
    var digest = entry.get("digest").getAsString();
    var name =
        entry.getAsJsonObject("annotations").get("org.opencontainers.image.ref.name").getAsString();
    var named = json(blob(digest));
    var platforms = new ArrayList<Platform>();
    for (var one : manifests(named)) {
      var of = one.get("digest").getAsString();
      var manifest = json(blob(of));
      var config = json(blob(manifest.getAsJsonObject("config").get("digest").getAsString()));
      platforms.add(new Platform(config.get("architecture").getAsString(), of, manifest, config));
    }
    return new BuiltImage(name.substring(name.lastIndexOf(':') + 1), digest, platforms);
  }

  /** The same as one file, as people load it; skips where there is none. */
  static Path archive() throws IOException {
    var archive = Project.file("dist/ip-masq-agent-" + Project.version() + ".oci.tar");
    assumeTrue(Files.exists(archive), "no image under dist: make container");
    return archive;
  }

  /** The names of all that it consists of, which are their hashes. */
  static TreeSet<String> blobs(Path layout) throws IOException {
    try (var files = Files.list(layout.resolve("blobs/sha256"))) {
      return files
          .map(f -> f.getFileName().toString())
          .collect(TreeSet::new, TreeSet::add, TreeSet::addAll);
    }
  }

  static TreeSet<String> blobs() throws IOException {
    return blobs(LAYOUT);
  }

  private static List<JsonObject> manifests(JsonObject index) {
    return index.getAsJsonArray("manifests").asList().stream()
        .map(m -> m.getAsJsonObject())
        .toList();
  }

  private static Path blob(String digest) {
    return LAYOUT.resolve("blobs/sha256").resolve(digest.substring("sha256:".length()));
  }

  private static JsonObject json(Path file) throws IOException {
    return JsonParser.parseString(Files.readString(file)).getAsJsonObject();
  }
}
