package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChainNameTest {
  @ParameterizedTest
  @ValueSource(
      strings = {"IP-MASQ-AGENT", "x", "1234567890123456789012345678", "a!b", "masquerade"})
  void names(String text) {
    assertEquals("", Type.chainFault(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "12345678901234567890123456789",
        "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4",
        "-x",
        "!x",
        "MY CHAIN",
        "X\n-A POSTROUTING -j DROP",
        "a\"b",
        "a'b",
        "a\\b",
        "a\u00a0b",
        "a\u0001",
        "PREROUTING",
        "POSTROUTING",
        "ACCEPT",
        "MASQUERADE",
        "SNAT",
      })
  void refusals(String text) {
    assertNotEquals("", Type.chainFault(text));
  }
}
