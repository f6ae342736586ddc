package ipmasq.cni;

import static java.nio.charset.StandardCharsets.UTF_8;

import ipmasq.json.Json;
import ipmasq.json.JsonValue;
import ipmasq.json.MalformedJson;
import ipmasq.net.Cidr;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Which entries of a file's lists the agent put there; all others came from people. */
record Memory(Set<Cidr> own) {
  static final Memory NONE = new Memory(Set.of());

  Memory {
    own = Set.copyOf(own);
  }

  /** What was written down. A file that says nothing we know makes every entry a person's. */
  static Memory read(Optional<byte[]> bytes) {
    if (bytes.isEmpty()) {
      return NONE;
    }
    try {
      Set<Cidr> own = new LinkedHashSet<>();
      List<JsonValue> items =
          Document.read(bytes.get())
              .root()
              .array("own")
              .map(JsonValue.Arr::items)
              .orElse(List.of());
      for (JsonValue item : items) {
        if (item instanceof JsonValue.Str(_, _, var text)
            && Cidr.parse(text) instanceof Cidr.Parsed.Block(var cidr)) {
          own.add(cidr);
        }
      }
      return new Memory(own);
    } catch (MalformedJson e) {
      return NONE;
    }
  }

  Memory and(Collection<Cidr> more) {
    Set<Cidr> all = new LinkedHashSet<>(own);
    all.addAll(more);
    return new Memory(all);
  }

  byte[] bytes() {
    List<Cidr> sorted = own.stream().sorted().toList();
    return (Json.write(Map.of("own", sorted)) + "\n").getBytes(UTF_8);
  }
}
