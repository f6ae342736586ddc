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
record OwnedEntries(Set<Cidr> cidrs) {
  static final OwnedEntries NONE = new OwnedEntries(Set.of());

  OwnedEntries {
    cidrs = Set.copyOf(cidrs);
  }

  /** Reads the file. One that cannot be read makes every entry a person's. */
  static OwnedEntries read(Optional<byte[]> bytes) {
    if (bytes.isEmpty()) {
      return NONE;
    }
    try {
      Set<Cidr> owned = new LinkedHashSet<>();
      List<JsonValue> items =
          JsonDocument.read(bytes.get())
              .root()
              .array("own")
              .map(JsonValue.Arr::items)
              .orElse(List.of());
      for (JsonValue item : items) {
        if (item instanceof JsonValue.Str(_, _, var text)
            && Cidr.parse(text) instanceof Cidr.ParsedCidr.Block(var cidr)) {
          owned.add(cidr);
        }
      }
      return new OwnedEntries(owned);
    } catch (MalformedJson e) {
      return NONE;
    }
  }

  OwnedEntries and(Collection<Cidr> more) {
    Set<Cidr> all = new LinkedHashSet<>(cidrs);
    all.addAll(more);
    return new OwnedEntries(all);
  }

  byte[] bytes() {
    List<Cidr> sorted = cidrs.stream().sorted().toList();
    return (Json.write(Map.of("own", sorted)) + "\n").getBytes(UTF_8);
  }
}
