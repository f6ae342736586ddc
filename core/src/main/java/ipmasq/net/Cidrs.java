package ipmasq.net;

import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.RandomAccess;

/** An immutable list of blocks. */
public final class Cidrs extends AbstractList<Cidr> implements RandomAccess {
  public static final Cidrs NONE = new Cidrs(List.of());

  private final List<Cidr> blocks;

  private Cidrs(List<Cidr> blocks) {
    this.blocks = blocks;
  }

  public static Cidrs copyOf(Collection<Cidr> blocks) {
    return blocks instanceof Cidrs already ? already : new Cidrs(List.copyOf(blocks));
  }

  @Override
  public Cidr get(int i) {
    return blocks.get(i);
  }

  @Override
  public int size() {
    return blocks.size();
  }

  /** Those of one family, in their order. */
  public Cidrs of(Family family) {
    return new Cidrs(blocks.stream().filter(block -> block.family() == family).toList());
  }

  /** These, and the others after them. */
  public Cidrs followedBy(Cidrs others) {
    List<Cidr> both = new ArrayList<>(blocks);
    both.addAll(others);
    return copyOf(both);
  }

  /** Without duplicates; the first occurrence stays. */
  public Cidrs distinct() {
    return copyOf(new LinkedHashSet<>(blocks));
  }

  /** Sorted, without blocks that lie in others: the same addresses. */
  public Cidrs outermost() {
    List<Cidr> kept = new ArrayList<>();
    for (Cidr block : blocks.stream().sorted().toList()) {
      if (kept.isEmpty() || !kept.getLast().contains(block)) {
        kept.add(block);
      }
    }
    return copyOf(kept);
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
}
