package ipmasq.status;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.net.Cidr;
import ipmasq.status.AddressMap.Block;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class AddressMapTest {
  @Test
  void fewRangesAreDrawnAsTheyAre() {
    List<Cidr> few = Stream.of("10.0.0.0/8", "169.254.0.0/16").map(Cidr::of).toList();
    assertEquals(few.stream().map(it -> new Block(it, 1)).toList(), AddressMap.of(few, 2));
    assertEquals(List.of(), AddressMap.of(List.of(), 2));
  }

  /** No range is missing, and a single one is itself: that of link-local addresses, for one. */
  @Test
  void ofManyRangesNoneIsLeftOut() {
    List<Cidr> many =
        Stream.concat(
                IntStream.range(0, 4000)
                    .mapToObj(i -> Cidr.of("10." + i / 200 + "." + i % 200 + ".0/25")),
                Stream.of(Cidr.of("169.254.0.0/16")))
            .toList();
    List<Block> blocks = AddressMap.of(many, 1000);
    assertTrue(blocks.size() <= 1000 && blocks.size() > 100, blocks.toString());
    assertEquals(new Block(Cidr.of("169.254.0.0/16"), 1), blocks.getLast());
    assertEquals(new Block(Cidr.of("10.0.0.0/21"), 8), blocks.getFirst());
    assertEquals(many.size(), blocks.stream().mapToInt(Block::ranges).sum());
    for (Cidr range : many) {
      assertEquals(1, blocks.stream().filter(it -> it.block().contains(range)).count());
    }
    assertEquals(2, AddressMap.of(many, 2).size());
  }
}
