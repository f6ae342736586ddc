package ipmasq.net;

import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.RandomAccess;

/**
 * An immutable list of blocks, held in primitive arrays.
 *
 * <p>A hundred thousand blocks as objects take eight megabytes, scattered in memory, which every
 * garbage collection and every comparison walks. As arrays they take two, contiguous, and two lists
 * are compared at memory speed.
 */
public final class Cidrs extends AbstractList<Cidr> implements RandomAccess {
  /** The two halves of the network, and the rest in one number: see {@link #rest}. */
  private static final int WORDS = 3;

  private static final int V6 = 1 << 8;
  public static final Cidrs NONE = new Cidrs(new long[0]);

  private final long[] words;

  private Cidrs(long[] words) {
    this.words = words;
  }

  public static Cidrs copyOf(Collection<Cidr> blocks) {
    if (blocks instanceof Cidrs packed) {
      return packed;
    }
    if (blocks instanceof Collector collector) {
      return collector.size == 0
          ? NONE
          : new Cidrs(Arrays.copyOf(collector.words, WORDS * collector.size));
    }
    Collector collector = new Collector();
    collector.addAll(blocks);
    return copyOf(collector);
  }

  /** A builder of a list. Used by one thread. */
  public static final class Collector extends AbstractList<Cidr> {
    private long[] words = new long[WORDS * 4];
    private int size;

    @Override
    public boolean add(Cidr block) {
      int at = WORDS * size++;
      if (at == words.length) {
        words = Arrays.copyOf(words, 2 * at);
      }
      words[at] = block.network().high();
      words[at + 1] = block.network().low();
      words[at + 2] = rest(block);
      return true;
    }

    @Override
    public Cidr get(int i) {
      return block(words, i, size);
    }

    @Override
    public int size() {
      return size;
    }
  }

  private static long rest(Cidr block) {
    return (block.family() == Family.IPV6 ? V6 : 0) | block.prefix();
  }

  private static Cidr block(long[] words, int i, int size) {
    if (i < 0 || i >= size) {
      throw new IndexOutOfBoundsException(i);
    }
    int at = WORDS * i;
    Ip network = new Ip(family(words, i), words[at], words[at + 1]);
    return new Cidr(network, prefix(words, i));
  }

  private static Family family(long[] words, int i) {
    return (words[WORDS * i + 2] & V6) != 0 ? Family.IPV6 : Family.IPV4;
  }

  private static int prefix(long[] words, int i) {
    return (int) words[WORDS * i + 2] & V6 - 1;
  }

  @Override
  public Cidr get(int i) {
    return block(words, i, size());
  }

  @Override
  public int size() {
    return words.length / WORDS;
  }

  /** Those of one family, in their order. */
  public Cidrs of(Family family) {
    int count = 0;
    for (int i = 0; i < size(); i++) {
      count += family(words, i) == family ? 1 : 0;
    }
    if (count == size()) {
      return this;
    }
    long[] some = new long[WORDS * count];
    for (int i = 0, at = 0; at < some.length; i++) {
      if (family(words, i) == family) {
        System.arraycopy(words, WORDS * i, some, at, WORDS);
        at += WORDS;
      }
    }
    return new Cidrs(some);
  }

  /** These, and the others after them. */
  public Cidrs followedBy(Cidrs others) {
    long[] both = Arrays.copyOf(words, words.length + others.words.length);
    System.arraycopy(others.words, 0, both, words.length, others.words.length);
    return new Cidrs(both);
  }

  /** The same from the last to the first. */
  @Override
  public Cidrs reversed() {
    long[] back = new long[words.length];
    for (int at = 0; at < words.length; at += WORDS) {
      System.arraycopy(words, at, back, words.length - WORDS - at, WORDS);
    }
    return new Cidrs(back);
  }

  /** Without duplicates; the first occurrence stays. */
  public Cidrs distinct() {
    long[] sorted = sortedWords();
    for (int i = 1; i < size(); i++) {
      if (isSame(sorted, i, sorted, i - 1)) {
        return copyOf(new LinkedHashSet<>(this));
      }
    }
    return this;
  }

  /** Sorted, without blocks that lie in others: the same addresses. */
  public Cidrs outermost() {
    long[] sorted = sortedWords();
    long[] to = sorted;
    int kept = 0;
    for (int i = 0; i < size(); i++) {
      if (kept > 0 && isIn(sorted, i, to, kept - 1)) {
        to = to == words ? words.clone() : to; // from here on the remaining ones move up
      } else {
        if (kept < i) {
          System.arraycopy(sorted, WORDS * i, to, WORDS * kept, WORDS);
        }
        kept++;
      }
    }
    boolean asItIs = to == words;
    return asItIs ? this : new Cidrs(kept == size() ? to : Arrays.copyOf(to, WORDS * kept));
  }

  /** The block that holds an address, by binary search: only for blocks in order and disjoint. */
  public Optional<Cidr> holding(Ip address) {
    int low = 0;
    int high = size() - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      Cidr block = get(middle);
      if (block.contains(address)) {
        return Optional.of(block);
      }
      if (block.first().compareTo(address) < 0) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return Optional.empty();
  }

  /** Sorted; this list itself if it already is. */
  private long[] sortedWords() {
    if (isAscending()) {
      return words;
    }
    for (int i = 0; i < size(); i++) {
      if (family(words, i) == Family.IPV6) {
        List<Cidr> blocks = new ArrayList<>(this);
        blocks.sort(null);
        return copyOf(blocks).words;
      }
    }
    return sortedV4();
  }

  private boolean isAscending() {
    for (int i = 1; i < size(); i++) {
      if (compare(words, i - 1, i) > 0) {
        return false;
      }
    }
    return true;
  }

  /** An IPv4 block fits one number, which sorts fast. */
  private long[] sortedV4() {
    long[] keys = new long[size()];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = words[WORDS * i + 1] << 8 | words[WORDS * i + 2];
    }
    Arrays.sort(keys);
    long[] sorted = new long[words.length];
    for (int i = 0; i < keys.length; i++) {
      sorted[WORDS * i + 1] = keys[i] >>> 8;
      sorted[WORDS * i + 2] = keys[i] & 255;
    }
    return sorted;
  }

  /** The order of {@link Cidr#compareTo}. */
  private static int compare(long[] words, int i, int j) {
    int byFamily = family(words, i).compareTo(family(words, j));
    if (byFamily != 0) {
      return byFamily;
    }
    int byHigh = Long.compareUnsigned(words[WORDS * i], words[WORDS * j]);
    if (byHigh != 0) {
      return byHigh;
    }
    int byLow = Long.compareUnsigned(words[WORDS * i + 1], words[WORDS * j + 1]);
    return byLow != 0 ? byLow : Integer.compare(prefix(words, i), prefix(words, j));
  }

  private static boolean isSame(long[] a, int i, long[] b, int j) {
    return a[WORDS * i] == b[WORDS * j]
        && a[WORDS * i + 1] == b[WORDS * j + 1]
        && a[WORDS * i + 2] == b[WORDS * j + 2];
  }

  /** Whether a block lies in another, which comes before it in order. */
  private static boolean isIn(long[] inner, int i, long[] outer, int o) {
    Family family = family(outer, o);
    int free = family.bits() - prefix(outer, o); // bits of an address that the block leaves open
    long high = inner[WORDS * i] ^ outer[WORDS * o];
    long low = inner[WORDS * i + 1] ^ outer[WORDS * o + 1];
    return family(inner, i) == family
        && (free >= 64 ? free == 128 || high >>> free - 64 == 0 : high == 0 && low >>> free == 0);
  }

  /** The length of the common prefix of both lists. */
  public int sameAtStart(Cidrs other) {
    int at = Arrays.mismatch(words, other.words);
    return (at < 0 ? words.length : at) / WORDS;
  }

  /** The length of the common suffix of both lists, not counting the first {@code start}. */
  public int sameAtEnd(Cidrs other, int start) {
    int most = Math.min(size(), other.size()) - start;
    int same = 0;
    while (same < most && isSame(words, size() - 1 - same, other.words, other.size() - 1 - same)) {
      same++;
    }
    return same;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Cidrs packed ? Arrays.equals(words, packed.words) : super.equals(other);
  }

  @Override
  public int hashCode() {
    return super.hashCode();
  }
}
