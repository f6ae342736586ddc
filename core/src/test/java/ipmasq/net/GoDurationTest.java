package ipmasq.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.net.GoDuration.Parsed;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GoDurationTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "-0, 0",
    "+0, 0",
    "0s, 0",
    "5s, 5000000000",
    "+5s, 5000000000",
    "-5s, -5000000000",
    "1.5h, 5400000000000",
    ".5s, 500000000",
    "5.s, 5000000000",
    "1h30m, 5400000000000",
    "1s1h, 3601000000000",
    "1s1s1s, 3000000000",
    "500ms, 500000000",
    "1us, 1000",
    "1\u00b5s, 1000",
    "1\u03bcs, 1000",
    "1h1m1s1ms1us1ns, 3661001001001",
    "1.123456789123s, 1123456789",
    "0.3333333333333333333h, 1199999999999",
    "0.100000000000000000000h, 360000000000",
    "0.9223372036854775808ns, 0",
    "9223372036854775807ns, 9223372036854775807",
    "9223372036854775.807us, 9223372036854775807",
    "-9223372036854775808ns, -9223372036854775808",
    "9223372036s854ms775us807ns, 9223372036854775807",
    "2562047h, 9223369200000000000",
  })
  void durations(String text, long nanos) {
    assertEquals(new Parsed.Valid(Duration.ofNanos(nanos)), GoDuration.parse(text));
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "``| invalid duration \"\"",
        "+| invalid duration \"+\"",
        "--5s| invalid duration \"--5s\"",
        "s| invalid duration \"s\"",
        ".s| invalid duration \".s\"",
        "PT60S| invalid duration \"PT60S\"",
        "60| missing unit in duration \"60\"",
        "00| missing unit in duration \"00\"",
        "1h5| missing unit in duration \"1h5\"",
        "1.5.5s| missing unit in duration \"1.5.5s\"",
        "1d| unknown unit \"d\" in duration \"1d\"",
        "5 s| unknown unit \" s\" in duration \"5 s\"",
        "5S| unknown unit \"S\" in duration \"5S\"",
        "1e3s| unknown unit \"e\" in duration \"1e3s\"",
        "` 5s`| invalid duration \" 5s\"",
        "`5s `| unknown unit \"s \" in duration \"5s \"",
        "9223372036854775808ns| invalid duration \"9223372036854775808ns\"",
        "9223372036854775809ns| invalid duration \"9223372036854775809ns\"",
        "99999999999999999999s| invalid duration \"99999999999999999999s\"",
        "2562048h| invalid duration \"2562048h\"",
        "2562047h59m| invalid duration \"2562047h59m\"",
        "\u0665s| invalid duration \"\u0665s\"",
      },
      delimiter = '|')
  void refusals(String text, String reason) {
    assertEquals(new Parsed.Malformed(reason), GoDuration.parse(text));
  }
}
