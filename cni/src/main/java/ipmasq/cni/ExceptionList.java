package ipmasq.cni;

import ipmasq.json.JsonValue;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The exception list of one OutBoundNAT policy.
 *
 * @param at its byte offset in the file, or that of the policy without a list
 * @param families those whose ranges it holds: HNS wants separate lists, but some files mix them
 */
record ExceptionList(
    Location location, int at, Element element, List<Entry> entries, Set<Family> families) {
  ExceptionList {
    entries = List.copyOf(entries);
    families = Set.copyOf(families);
  }

  /** Where the list is written. */
  sealed interface Location {
    /** Over this array; a {@code null} counts as an empty one. */
    record Existing(JsonValue.Arr array) implements Location {}

    /** The policy has no list yet: a new member of this object. */
    record Missing(JsonValue.Obj object, String key, boolean inSettings) implements Location {}
  }

  /** Which item of which array the policy is. */
  record Element(JsonValue.Arr array, int index) {}

  /**
   * One item of the list.
   *
   * @param raw as it is written
   * @param cidr the block it spells; empty if it is none, or if it is ambiguous
   */
  record Entry(String raw, Optional<Cidr> cidr) {
    static Entry of(JsonDocument document, JsonValue item) {
      Optional<Cidr> cidr =
          item instanceof JsonValue.Str(_, _, var text) ? block(text) : Optional.empty();
      return new Entry(document.text(item), cidr);
    }

    static Entry of(Cidr cidr) {
      return new Entry('"' + cidr.toString() + '"', Optional.of(cidr));
    }

    /** {@code 10.0.0.0/010} is a block to us and another one to those who read octal. */
    private static Optional<Cidr> block(String text) {
      return Cidr.parse(text) instanceof Cidr.ParsedCidr.Block(var cidr)
              && (cidr.family() == Family.IPV6 || cidr.toString().equals(text))
          ? Optional.of(cidr)
          : Optional.empty();
    }

    boolean isOf(Family family) {
      return cidr.isPresent() && cidr.get().family() == family;
    }
  }

  boolean holds(Family family) {
    return families.contains(family);
  }

  /** Its blocks of a family, in order, each once. */
  Set<Cidr> blocks(Family family) {
    Set<Cidr> blocks = new LinkedHashSet<>();
    for (Entry entry : entries) {
      if (entry.isOf(family)) {
        blocks.add(entry.cidr().orElseThrow());
      }
    }
    return blocks;
  }

  /** The items that are no blocks. */
  List<Entry> invalid() {
    return entries.stream().filter(entry -> entry.cidr().isEmpty()).toList();
  }

  /** All items, as written. */
  List<String> raws() {
    return entries.stream().map(Entry::raw).toList();
  }
}
