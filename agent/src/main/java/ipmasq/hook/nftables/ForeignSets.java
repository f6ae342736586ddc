package ipmasq.hook.nftables;

import ipmasq.hook.ElementSet;
import ipmasq.netlink.Answer;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.nftables.Data;
import ipmasq.netlink.nftables.Element;
import ipmasq.netlink.nftables.KeyType;
import ipmasq.netlink.nftables.NftSet;
import ipmasq.netlink.nftables.Nftables;
import ipmasq.netlink.nftables.Nftables.Head;
import ipmasq.netlink.nftables.Table;
import ipmasq.netlink.nftables.Verdict;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The sets and maps of another program's table, with their content if it is not too large. Used by
 * one thread.
 */
class ForeignSets {
  /** Larger ones are not read: their elements are queried one by one. */
  static final int MOST_ELEMENTS = 4096;

  private final RulesetReader kernel;
  private final Table table;
  private final Map<String, Elements> known = new HashMap<>();

  ForeignSets(RulesetReader kernel, Table table) {
    this.kernel = kernel;
    this.table = table;
  }

  /** What is known of a set. */
  sealed interface Elements {
    /**
     * All of it.
     *
     * @param set the same set, for queries
     */
    record AllElements(List<Entry> entries, ElementSet set) implements Elements {
      public AllElements {
        entries = List.copyOf(entries);
      }
    }

    /**
     * It is too large to read.
     *
     * @param keyLength in bytes
     */
    record Long(ElementSet set, int keyLength) implements Elements {}

    /** The kernel does not say. */
    record Unreadable() implements Elements {}
  }

  /**
   * An element, or a range of them.
   *
   * @param keys the first and the last; nothing in the one for all keys without their own
   */
  record Entry(Optional<Keys> keys, Optional<Data> data, Optional<Verdict> verdict) {}

  /** A range of keys, both included. */
  record Keys(byte[] first, byte[] last) {}

  Elements content(String name) {
    Elements content = known.get(name);
    if (content == null) {
      content = read(name);
      known.put(name, content);
    }
    return content;
  }

  private Elements read(String name) {
    NftSet named = NftSet.keys(table, name, new KeyType(0, 0));
    Optional<NftSet> set = kernel.ask(nftables -> nftables.find(named)).flatMap(found -> found);
    if (set.isEmpty() || changesByItself(set.get())) {
      return new Elements.Unreadable();
    }
    Optional<Head<Element>> head =
        kernel.head(nftables -> nftables.elements(set.get(), MOST_ELEMENTS));
    if (head.isEmpty()) {
      return new Elements.Unreadable();
    }
    if (!head.get().whole()) {
      return new Elements.Long(new InKernel(set.get()), set.get().key().length());
    }
    boolean pairs =
        set.get().hasIntervals() && head.get().list().stream().allMatch(e -> e.last().isEmpty());
    return new Elements.AllElements(
        pairs ? pairs(head.get().list()) : single(head.get().list()), new InKernel(set.get()));
  }

  /** Rules fill it as packets pass, or its elements expire or are used up: no look at it lasts. */
  private static boolean changesByItself(NftSet set) {
    return set.flags().contains(NftSet.SetFlag.DYNAMIC)
        || set.flags().contains(NftSet.SetFlag.TIMEOUT)
        || set.flags().contains(NftSet.SetFlag.EXPRESSION);
  }

  private static List<Entry> single(List<Element> elements) {
    List<Entry> entries = new ArrayList<>();
    for (Element element : elements) {
      Optional<Keys> keys =
          element.key().map(key -> new Keys(key.bytes(), element.last().orElse(key).bytes()));
      entries.add(new Entry(keys, element.data(), element.verdict()));
    }
    return entries;
  }

  /** A range is two elements: its first key, and the key after its last, which may be missing. */
  private static List<Entry> pairs(List<Element> elements) {
    List<Element> sorted = new ArrayList<>(elements);
    sorted.removeIf(element -> element.key().isEmpty());
    sorted.sort(
        Comparator.comparing((Element e) -> e.key().orElseThrow().bytes(), Arrays::compareUnsigned)
            .thenComparing(e -> !e.end()));
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < sorted.size(); i++) {
      Element element = sorted.get(i);
      if (!element.end()) {
        byte[] first = element.key().orElseThrow().bytes();
        byte[] last =
            i + 1 < sorted.size()
                ? before(sorted.get(i + 1).key().orElseThrow().bytes())
                : filled(first.length);
        entries.add(
            new Entry(Optional.of(new Keys(first, last)), element.data(), element.verdict()));
      }
    }
    for (Element element : elements) {
      if (element.key().isEmpty()) {
        entries.add(new Entry(Optional.empty(), element.data(), element.verdict()));
      }
    }
    return entries;
  }

  private static byte[] before(byte[] key) {
    for (int i = key.length - 1; i >= 0; i--) {
      if (key[i]-- != 0) {
        break;
      }
    }
    return key;
  }

  private static byte[] filled(int length) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) 0xff);
    return bytes;
  }

  /** A set that is queried, with a socket per query. */
  private record InKernel(NftSet set) implements ElementSet {
    @Override
    public String name() {
      return "@" + set.name();
    }

    @Override
    public ElementAnswer ask(byte[] key) {
      if (key.length != set.key().length()) {
        return new ElementAnswer.NoAnswer();
      }
      try (Nftables nftables = Nftables.open()) {
        ElementAnswer own = answer(nftables.element(set, key));
        return own instanceof ElementAnswer.Absent ? answer(nftables.catchAll(set)) : own;
      } catch (NetlinkUnavailable unavailable) {
        return new ElementAnswer.NoAnswer();
      }
    }

    private static ElementAnswer answer(Answer<Optional<Element>> of) {
      return switch (of) {
        case Answer.Given<Optional<Element>>(var found) ->
            found.isEmpty()
                ? new ElementAnswer.Absent()
                : new ElementAnswer.Present(found.get().verdict().map(ForeignRule::verdict));
        case Answer.Failed<Optional<Element>> _ -> new ElementAnswer.NoAnswer();
      };
    }
  }
}
