package ipmasq.evidence.neighbours;

import ipmasq.netlink.nftables.Element;
import ipmasq.netlink.nftables.KeyType;
import ipmasq.netlink.nftables.NftSet;
import ipmasq.netlink.nftables.Nftables.Head;
import ipmasq.netlink.nftables.Table;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The sets and maps of one table of nf_tables. Used by one thread, for one reading. */
final class NftSets {
  /** Larger ones are not read: the kernel is asked for single elements. */
  static final int MOST_ELEMENTS = 4096;

  private final Kernel kernel;
  private final Table table;
  private final Map<String, Content> known = new HashMap<>();

  NftSets(Kernel kernel, Table table) {
    this.kernel = kernel;
    this.table = table;
  }

  /** What is known of a set. */
  sealed interface Content {
    record All(List<Entry> entries) implements Content {
      public All {
        entries = List.copyOf(entries);
      }
    }

    record Large(NftSet set) implements Content {}

    /** It changes by itself, or the kernel does not tell. */
    record Unreadable() implements Content {}
  }

  /**
   * A range of keys and what a map has for it.
   *
   * @param last nothing for the entry of all other keys
   */
  record Entry(byte[] first, byte[] last, Element element) {
    boolean isForOthers() {
      return element.key().isEmpty();
    }
  }

  Content content(String name) {
    return known.computeIfAbsent(name, this::read);
  }

  private Content read(String name) {
    NftSet named = NftSet.keys(table, name, new KeyType(0, 0));
    Optional<NftSet> set = kernel.nftables(it -> it.find(named)).flatMap(found -> found);
    if (set.isEmpty() || changesByItself(set.get())) {
      return new Content.Unreadable();
    }
    Optional<Head<Element>> head = kernel.head(it -> it.elements(set.get(), MOST_ELEMENTS));
    if (head.isEmpty()) {
      return new Content.Unreadable();
    }
    if (!head.get().whole()) {
      return new Content.Large(set.get());
    }
    List<Element> elements = head.get().list();
    boolean pairs = set.get().hasIntervals() && elements.stream().allMatch(e -> e.last().isEmpty());
    return new Content.All(pairs ? pairs(elements) : single(elements));
  }

  /** Rules fill it as packets pass, or its elements expire or are used up. */
  private static boolean changesByItself(NftSet set) {
    return set.flags().contains(NftSet.SetFlag.DYNAMIC)
        || set.flags().contains(NftSet.SetFlag.TIMEOUT)
        || set.flags().contains(NftSet.SetFlag.EXPRESSION);
  }

  private static List<Entry> single(List<Element> elements) {
    List<Entry> entries = new ArrayList<>();
    for (Element element : elements) {
      byte[] first = element.key().map(key -> key.bytes()).orElse(new byte[0]);
      entries.add(new Entry(first, element.last().map(key -> key.bytes()).orElse(first), element));
    }
    return entries;
  }

  /** A range is two elements: its first key, and the key after its last, which may be missing. */
  private static List<Entry> pairs(List<Element> elements) {
    List<Element> sorted = new ArrayList<>(elements);
    sorted.removeIf(element -> element.key().isEmpty());
    sorted.sort(
        Comparator.comparing((Element e) -> key(e), Arrays::compareUnsigned)
            .thenComparing(e -> !e.end()));
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < sorted.size(); i++) {
      if (!sorted.get(i).end()) {
        byte[] first = key(sorted.get(i));
        byte[] last = new byte[first.length];
        Arrays.fill(last, (byte) 0xff);
        if (i + 1 < sorted.size()) {
          BigInteger after = new BigInteger(1, key(sorted.get(i + 1)));
          last = Ranges.bytes(after.subtract(BigInteger.ONE), first.length);
        }
        entries.add(new Entry(first, last, sorted.get(i)));
      }
    }
    for (Element element : elements) {
      if (element.key().isEmpty()) {
        entries.add(new Entry(new byte[0], new byte[0], element));
      }
    }
    return entries;
  }

  private static byte[] key(Element element) {
    return element.key().orElseThrow().bytes();
  }

  /** Asks for the element of a large set that a packet meets. */
  record InKernel(Kernel kernel, NftSet set, List<NftReader.Loaded> parts) implements Step.Lookup {
    InKernel {
      parts = List.copyOf(parts);
    }

    @Override
    public String described() {
      return "@" + set.name();
    }

    @Override
    public Optional<Boolean> has(Packets packets) {
      return element(packets).map(Optional::isPresent);
    }

    @Override
    public Optional<Step> action(Packets packets) {
      return element(packets).flatMap(e -> e).flatMap(Element::verdict).flatMap(Step::of);
    }

    private Optional<Optional<Element>> element(Packets packets) {
      byte[] key = new byte[set.key().length()];
      int at = 0;
      for (NftReader.Loaded part : parts) {
        Optional<byte[]> bytes = part.bytes(packets);
        if (bytes.isEmpty() || at + bytes.get().length > key.length) {
          return Optional.empty();
        }
        System.arraycopy(bytes.get(), 0, key, at, bytes.get().length);
        at += bytes.get().length + 3 & ~3;
      }
      return kernel.nftables(it -> it.element(set, key));
    }
  }
}
