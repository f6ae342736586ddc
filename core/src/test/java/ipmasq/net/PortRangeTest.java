package ipmasq.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class PortRangeTest {
  @Test
  void asIptablesWritesIt() {
    assertEquals("5000", new PortRange(5000, 5000).toString());
    assertEquals("1-65535", new PortRange(1, 65535).toString());
    assertEquals(65535, new PortRange(1, 65535).size());
    assertEquals(1, new PortRange(5000, 5000).size());
  }

  @Test
  void oneThatExistsIsValid() {
    assertThrows(IllegalArgumentException.class, () -> new PortRange(0, 5));
    assertThrows(IllegalArgumentException.class, () -> new PortRange(5, 65536));
    assertThrows(IllegalArgumentException.class, () -> new PortRange(6, 5));
  }
}
