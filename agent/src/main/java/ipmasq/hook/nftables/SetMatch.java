package ipmasq.hook.nftables;

import ipmasq.hook.AddressRanges;
import ipmasq.hook.Condition;
import ipmasq.hook.ElementSet;
import ipmasq.hook.SetKey;
import ipmasq.hook.nftables.ForeignSets.Elements;
import ipmasq.hook.nftables.ForeignSets.Entry;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** What it means for a packet that registers are in a set, or equal an element. */
record SetMatch(Registers registers, Family family) {
  /** A set of concatenated keys is expanded up to this many elements; a larger one is queried. */
  private static final int MOST_ALTERNATIVES = 256;

  /**
   * That a key is in a set.
   *
   * @param register where the key begins
   */
  Condition in(int register, String name, Elements content) {
    return switch (content) {
      case Elements.Unreadable() -> new Condition.UnknownCondition("set @" + name);
      case Elements.Long(var set, var length) -> {
        List<SetKey> keys = registers.keys(register, length, family);
        yield keys.isEmpty()
            ? new Condition.UnknownCondition("set @" + name)
            : new Condition.Member(keys, set);
      }
      case Elements.AllElements(var entries, var set) -> in(register, name, entries, set);
    };
  }

  private Condition in(int register, String name, List<Entry> entries, ElementSet set) {
    if (entries.isEmpty()) {
      return Condition.AnyOf.NEVER;
    }
    int length = keyLength(entries);
    List<RegisterContent> fields = registers.fields(register, length);
    if (fields.isEmpty() && length > 0) {
      return new Condition.UnknownCondition("set @" + name);
    }
    Optional<Condition> addresses = addresses(fields, entries);
    if (addresses.isPresent()) {
      return addresses.get();
    }
    if (entries.size() > MOST_ALTERNATIVES) {
      List<SetKey> keys = registers.keys(register, length, family);
      return keys.isEmpty()
          ? new Condition.UnknownCondition("set @" + name)
          : new Condition.Member(keys, set);
    }
    List<List<Condition>> alternatives = new ArrayList<>();
    for (Entry entry : entries) {
      List<Condition> all = is(fields, entry);
      if (all.stream().allMatch(Condition.AnyOf.ALWAYS::equals)) {
        return Condition.AnyOf.ALWAYS;
      }
      if (!all.contains(Condition.AnyOf.NEVER)) {
        alternatives.add(all);
      }
    }
    return alternatives.isEmpty()
        ? Condition.AnyOf.NEVER
        : new Condition.AnyOf(alternatives, "@" + name);
  }

  /** 0 if only the element for all other keys is there. */
  static int keyLength(List<Entry> entries) {
    return entries.stream()
        .flatMap(entry -> entry.keys().stream())
        .mapToInt(keys -> keys.first().length)
        .findFirst()
        .orElse(0);
  }

  /** A set of addresses is its ranges. */
  private Optional<Condition> addresses(List<RegisterContent> fields, List<Entry> entries) {
    if (fields.size() != 1 || fields.getFirst().key(family).isEmpty()) {
      return Optional.empty();
    }
    SetKey.KeyPart part = fields.getFirst().key(family).get().part();
    boolean whole = entries.stream().allMatch(entry -> entry.keys().isPresent());
    if (!whole || part != SetKey.KeyPart.SOURCE && part != SetKey.KeyPart.DESTINATION) {
      return Optional.empty();
    }
    List<IpRange> ranges = new ArrayList<>(entries.size());
    for (Entry entry : entries) {
      var keys = entry.keys().orElseThrow();
      ranges.add(new IpRange(Ip.ofBytes(keys.first()), Ip.ofBytes(keys.last())));
    }
    return Optional.of(
        part == SetKey.KeyPart.SOURCE
            ? new Condition.Source(AddressRanges.of(ranges))
            : new Condition.Destination(AddressRanges.of(ranges)));
  }

  /** The condition that the fields match an element. */
  List<Condition> is(List<RegisterContent> fields, Entry entry) {
    if (entry.keys().isEmpty()) {
      return List.of();
    }
    byte[] first = entry.keys().get().first();
    byte[] last = entry.keys().get().last();
    List<Condition> all = new ArrayList<>();
    int at = 0;
    for (RegisterContent field : fields) {
      int end = Math.min(at + field.length(), first.length);
      all.add(
          field.between(
              Arrays.copyOfRange(first, at, end), Arrays.copyOfRange(last, at, end), family));
      at += (field.length() + 3) / 4 * 4;
    }
    return all;
  }
}
