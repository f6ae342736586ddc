package ipmasq.cni;

import static java.nio.charset.StandardCharsets.UTF_8;

import ipmasq.json.JsonValue;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import java.io.ByteArrayOutputStream;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The exception list of an OutBoundNAT policy.
 *
 * @param array the bytes that spell it; a {@code null} counts as an empty one
 * @param families those whose ranges it holds: HNS wants separate lists, but some files mix them
 */
record ExceptionList(JsonValue.Arr array, List<Entry> entries, Set<Family> families) {
  ExceptionList {
    entries = List.copyOf(entries);
    families = Set.copyOf(families);
  }

  static ExceptionList of(byte[] file, JsonValue.Arr array) {
    List<Entry> entries = array.items().stream().map(item -> Entry.of(file, item)).toList();
    return new ExceptionList(
        array,
        entries,
        entries.stream()
            .flatMap(entry -> entry.cidr().stream())
            .map(Cidr::family)
            .collect(Collectors.toSet()));
  }

  /**
   * One item of the list.
   *
   * @param raw as it is written
   * @param cidr the block it spells; empty if it is none, or if it is ambiguous
   */
  record Entry(String raw, Optional<Cidr> cidr) {
    private static Entry of(byte[] file, JsonValue item) {
      return new Entry(
          text(file, item.from(), item.to()),
          item instanceof JsonValue.Str(_, _, var text) ? block(text) : Optional.empty());
    }

    /** {@code 10.0.0.0/010} is a block to us and another one to those who read octal. */
    private static Optional<Cidr> block(String text) {
      return Cidr.parse(text) instanceof Cidr.Parsed.Block(var cidr)
              && (cidr.family() == Family.IPV6 || cidr.toString().equals(text))
          ? Optional.of(cidr)
          : Optional.empty();
    }

    boolean isOf(Family family) {
      return cidr.isPresent() && cidr.get().family() == family;
    }
  }

  static String raw(Cidr cidr) {
    return '"' + cidr.toString() + '"';
  }

  /** Its blocks of a family, in order, each once. */
  Set<Cidr> blocks(Family family) {
    return entries.stream()
        .filter(entry -> entry.isOf(family))
        .map(entry -> entry.cidr().orElseThrow())
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  /** The items that are no blocks, as written. */
  List<String> invalid() {
    return entries.stream().filter(e -> e.cidr().isEmpty()).map(Entry::raw).toList();
  }

  /** All items, as written. */
  List<String> raws() {
    return entries.stream().map(Entry::raw).toList();
  }

  /** The file with other items in this list, spaced as they are now; all other bytes stay. */
  byte[] replaced(byte[] file, List<String> raws) {
    return spliced(file, raws.isEmpty() ? "[]" : "[" + spaced(file, raws) + "]");
  }

  private String spaced(byte[] file, List<String> raws) {
    List<JsonValue> items = array.items();
    if (items.isEmpty()) {
      return String.join(",", raws);
    }
    String lead = text(file, array.from() + 1, items.getFirst().from());
    String separator =
        items.size() > 1 ? text(file, items.get(0).to(), items.get(1).from()) : "," + lead;
    return lead + String.join(separator, raws) + text(file, items.getLast().to(), array.to() - 1);
  }

  /** The file with other text in place of this list. */
  byte[] spliced(byte[] file, String text) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(file.length);
    out.write(file, 0, array.from());
    out.writeBytes(text.getBytes(UTF_8));
    out.write(file, array.to(), file.length - array.to());
    return out.toByteArray();
  }

  /** As it is written. */
  String text(byte[] file) {
    return text(file, array.from(), array.to());
  }

  private static String text(byte[] file, int from, int to) {
    return new String(file, from, to - from, UTF_8);
  }
}
