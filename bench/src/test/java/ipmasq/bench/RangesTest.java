package ipmasq.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.net.Cidr;
import ipmasq.net.Ip;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RangesTest {
  private final Ranges ranges = new Ranges(1000);

  @Test
  void noneCanBeMergedWithAnother() {
    assertEquals(1001, ranges.policy().exempt().size()); // link-local is one of them
  }

  @Test
  void theTextSaysTheSame() {
    assertEquals(ranges.cidrs().get(999).toString(), ranges.range(999));
    assertEquals(1001, ranges.config().lines().count());
  }

  @Test
  void insideIsInsideAndOutsideIsNot() {
    Random random = new Random(1);
    for (int i = 0; i < 100; i++) {
      assertTrue(exempt(Ip.ofBytes(ranges.inside(random).getAddress())));
      assertFalse(exempt(Ip.ofBytes(Ranges.outside(random).getAddress())));
    }
    assertTrue(exempt(Ip.ofBytes(ranges.inside().getAddress())));
    assertFalse(exempt(Ip.ofBytes(Ranges.outside().getAddress())));
  }

  private boolean exempt(Ip ip) {
    for (Cidr cidr : ranges.cidrs()) {
      if (cidr.contains(ip)) {
        return true;
      }
    }
    return false;
  }
}
