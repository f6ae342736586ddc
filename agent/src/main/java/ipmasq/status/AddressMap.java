package ipmasq.status;

import ipmasq.net.Cidr;
import java.util.ArrayList;
import java.util.List;

/** The exempt part of an address space, in few enough pieces to be drawn, none left out. */
final class AddressMap {
  private AddressMap() {}

  /**
   * Part of the space.
   *
   * @param ranges how many exempt ranges it holds: more than one, and it is not exempt as a whole
   */
  record Block(Cidr block, int ranges) {}

  /**
   * At most so many blocks that together hold all of these ranges: where they are too many, those
   * in one block become one, with the smallest blocks that are few enough.
   *
   * @param exempt disjoint and sorted
   */
  static List<Block> of(List<Cidr> exempt, int most) {
    int widest = 0;
    int narrowest = exempt.isEmpty() ? 0 : exempt.getFirst().family().bits();
    while (widest < narrowest) {
      int prefix = (widest + narrowest + 1) / 2;
      if (blocks(exempt, prefix).size() <= most) {
        widest = prefix;
      } else {
        narrowest = prefix - 1;
      }
    }
    return blocks(exempt, widest);
  }

  private static List<Block> blocks(List<Cidr> exempt, int prefix) {
    List<Block> blocks = new ArrayList<>();
    for (Cidr range : exempt) {
      Cidr around =
          range.prefix() <= prefix ? range : new Cidr(range.first().masked(prefix), prefix);
      if (!blocks.isEmpty() && around.contains(blocks.getLast().block)) {
        blocks.add(new Block(around, blocks.removeLast().ranges + 1));
      } else {
        blocks.add(new Block(range, 1));
      }
    }
    return blocks;
  }
}
