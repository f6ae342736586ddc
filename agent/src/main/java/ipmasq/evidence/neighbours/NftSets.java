package ipmasq.evidence.neighbours;

import ipmasq.netlink.nftables.Element;
import ipmasq.netlink.nftables.KeyType;
import ipmasq.netlink.nftables.NftSet;
import ipmasq.netlink.nftables.NftSet.SetFlag;
import ipmasq.netlink.nftables.Nftables.Head;
import ipmasq.netlink.nftables.Table;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The sets and maps of one table of nf_tables. Used by one thread, for one reading. */
final class NftSets {
  /** Larger ones are not read: the kernel is asked for single elements. */
  static final int MOST_ELEMENTS = 4096;

  /** Rules fill it as packets pass, or its elements expire or are used up. */
  private static final Set<SetFlag> CHANGES_BY_ITSELF =
      Set.of(SetFlag.DYNAMIC, SetFlag.TIMEOUT, SetFlag.EXPRESSION);

  private final Kernel kernel;
  private final Table table;
  private final Map<String, Optional<Content>> known = new HashMap<>();

  NftSets(Kernel kernel, Table table) {
    this.kernel = kernel;
    this.table = table;
  }

  /**
   * A set.
   *
   * @param entries all of them; empty if they are too many
   */
  record Content(NftSet set, Optional<List<Entry>> entries) {}

  /**
   * A range of keys and what a map has for it.
   *
   * @param first of no bytes for the entry of all other keys
   */
  record Entry(byte[] first, byte[] last, Element element) {
    boolean isForOthers() {
      return element.key().isEmpty();
    }
  }

  /** Empty if it changes by itself, or the kernel does not tell. */
  Optional<Content> content(String name) {
    return known.computeIfAbsent(name, this::read);
  }

  private Optional<Content> read(String name) {
    NftSet named = NftSet.keys(table, name, new KeyType(0, 0));
    Optional<NftSet> set =
        kernel
            .nftables(it -> it.find(named))
            .flatMap(found -> found)
            .filter(it -> Collections.disjoint(it.flags(), CHANGES_BY_ITSELF));
    Optional<Head<Element>> head =
        set.flatMap(it -> kernel.head(nft -> nft.elements(it, MOST_ELEMENTS)));
    return head.map(
        it ->
            new Content(
                set.orElseThrow(),
                it.whole()
                    ? Optional.of(entries(it.list(), set.orElseThrow().hasIntervals()))
                    : Optional.empty()));
  }

  /** A range may be two elements: its first key, and the key after its last, if there is one. */
  private static List<Entry> entries(List<Element> elements, boolean intervals) {
    boolean pairs = intervals && elements.stream().allMatch(e -> e.last().isEmpty());
    List<Element> sorted = new ArrayList<>(elements);
    sorted.sort(
        Comparator.comparing((Element e) -> e.key().isEmpty()) // that of all other keys is the last
            .thenComparing(e -> key(e), Arrays::compareUnsigned)
            .thenComparing(e -> !e.end()));
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < sorted.size(); i++) {
      Element element = sorted.get(i);
      byte[] first = key(element);
      if (!element.end()) {
        byte[] next = i + 1 < sorted.size() ? key(sorted.get(i + 1)) : first;
        boolean toTheEnd = i + 1 == sorted.size() || next.length == 0;
        byte[] last =
            pairs && first.length > 0
                ? before(toTheEnd ? new byte[first.length] : next)
                : element.last().map(it -> it.bytes()).orElse(first);
        entries.add(new Entry(first, last, element));
      }
    }
    return entries;
  }

  private static byte[] key(Element element) {
    return element.key().map(it -> it.bytes()).orElse(new byte[0]);
  }

  /** The key before it; before the first, the last of all. */
  private static byte[] before(byte[] key) {
    BigInteger all = BigInteger.ONE.shiftLeft(key.length * 8);
    BigInteger before = new BigInteger(1, key).subtract(BigInteger.ONE).mod(all);
    return new Interval(before, before).bytes(key.length);
  }
}
