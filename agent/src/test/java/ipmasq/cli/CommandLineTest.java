package ipmasq.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class CommandLineTest {
  @Test
  void flagsAreWrittenAsGoProgramsTakeThem() {
    CommandLine line = good("-enable-ipv6", "--masq-chain", "A", "-to-ports=1-2", "--v=2");
    assertTrue(line.isOn(flag("enable-ipv6"), false));
    assertEquals("A", line.text(flag("masq-chain")).orElseThrow());
    assertEquals("1-2", line.text(flag("to-ports")).orElseThrow());
    assertEquals(2, line.number(Flag.VERBOSITY).orElseThrow());
    assertEquals(List.of(), line.words());
  }

  @Test
  void flagsMayStandAnywhere() {
    CommandLine line = good("--v=1", "explain", "8.8.8.8", "--config=a", "--config", "b");
    assertEquals(List.of("explain", "8.8.8.8"), line.words());
    assertEquals(List.of("a", "b"), line.list(Flag.CONFIG));
  }

  @Test
  void aBareSwitchDoesNotTakeTheNextWord() {
    CommandLine line = good("--enable-ipv6", "plan");
    assertTrue(line.isOn(flag("enable-ipv6"), false));
    assertEquals(List.of("plan"), line.words());
  }

  @Test
  void theLastOfTwoCounts() {
    assertFalse(good("--random-fully", "--random-fully=F").isOn(flag("random-fully"), true));
    assertTrue(good().isOn(flag("random-fully"), true));
  }

  @Test
  void twoDashesEndTheFlags() {
    assertEquals(List.of("explain", "--v"), good("explain", "--", "--v").words());
  }

  @Test
  void klogsFlagsAreTakenAndNamed() {
    CommandLine line = good("--logtostderr", "--stderrthreshold", "INFO", "--vmodule=a=1");
    assertEquals(
        List.of("logtostderr", "stderrthreshold", "vmodule"),
        line.flags().keySet().stream().filter(Flag.KLOG::contains).map(Flag::name).toList());
    assertEquals(List.of(), line.words());
  }

  @Test
  void whatIsWrongIsSaid() {
    assertEquals("unknown flag --enable-ipv: did you mean --enable-ipv6?", wrong("--enable-ipv"));
    assertEquals("unknown flag --xyzzy-frobnicate", wrong("--xyzzy-frobnicate"));
    assertEquals("--enable-ipv6 is true or false, not \"yes\"", wrong("--enable-ipv6=yes"));
    assertEquals("--v is a whole number, not \"x\"", wrong("--v=x"));
    assertEquals("--masq-chain needs a value: --masq-chain=NAME", wrong("--masq-chain"));
  }

  private static Flag flag(String name) {
    return Flag.named(name).orElseThrow();
  }

  private static CommandLine good(String... args) {
    return assertInstanceOf(CommandLine.class, parsed(args));
  }

  private static String wrong(String... args) {
    return assertInstanceOf(String.class, parsed(args));
  }

  /** The line, or what is wrong with it. */
  private static Object parsed(String... args) {
    return switch (CommandLine.parse(List.of(args))) {
      case CommandLine.Parsed.Good<CommandLine>(var line) -> line;
      case CommandLine.Parsed.Wrong<CommandLine>(var message) -> message;
    };
  }
}
