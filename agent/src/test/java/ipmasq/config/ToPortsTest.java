package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import ipmasq.net.PortRange;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ToPortsTest {
  private static List<PortRange> ranges(String text) {
    return Key.TO_PORTS.given(text, FlagDefaults.none()) instanceof Key.GivenFlag.As(var defaults)
        ? defaults.config().of(Key.TO_PORTS)
        : fail(text);
  }

  @Test
  void portsAndRangesInTheirOrder() {
    assertEquals(List.of(), ranges(""));
    assertEquals(List.of(new PortRange(5000, 5000)), ranges("5000"));
    assertEquals(
        List.of(new PortRange(32768, 65535), new PortRange(1024, 29999)),
        ranges("32768-65535,1024-29999"));
    // As Go reads whole numbers.
    assertEquals(List.of(new PortRange(5, 70)), ranges("+5-0070"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "0-5",
        "65536",
        "1-65536",
        "99999999999999999999",
        "5-1",
        "-5",
        "5-",
        "1-2-3",
        "1,",
        ",1",
        ",",
        "1 - 2",
        " 1",
        "1-2, 3-4",
        "abc",
        "0x400-0x500",
        "1_000",
        "+",
        "\u0661",
        "1.5"
      })
  void refusals(String text) {
    assertEquals(
        new Key.GivenFlag.WrongValue(
            "--to-ports is \""
                + text
                + "\", not ports from 1 to 65535 (write ports such as \"1024-29999,32768-65535\","
                + " without spaces)"),
        Key.TO_PORTS.given(text, FlagDefaults.none()));
  }
}
