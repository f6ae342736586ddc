package ipmasq.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.config.Key;
import java.util.List;
import org.junit.jupiter.api.Test;

class CommandLineTest {
  @Test
  void flagsAreWrittenAsGoProgramsTakeThem() throws WrongUsage {
    CommandLine line = good("-enable-ipv6", "--masq-chain", "A", "-to-ports=1-2", "--v=2");
    assertTrue(line.isOn(flag("enable-ipv6")));
    assertEquals("A", line.text(flag("masq-chain")).orElseThrow());
    assertEquals("1-2", line.text(flag("to-ports")).orElseThrow());
    assertEquals(2, line.number(Flag.VERBOSITY).orElseThrow());
    assertEquals(Command.RUN, line.command());
  }

  @Test
  void flagsMayStandAnywhere() throws WrongUsage {
    CommandLine line = good("--from=::1", "explain", "8.8.8.8", "--config=a", "--config", "b");
    assertEquals(Command.EXPLAIN, line.command());
    assertEquals(List.of("8.8.8.8"), line.operands());
    assertEquals(List.of("a", "b"), line.list(Flag.CONFIG));
  }

  @Test
  void aBareSwitchDoesNotTakeTheNextWord() throws WrongUsage {
    CommandLine line = good("--enable-ipv6", "plan");
    assertTrue(line.isOn(flag("enable-ipv6")));
    assertEquals(Command.PLAN, line.command());
  }

  @Test
  void theLastOfTwoCounts() throws WrongUsage {
    assertFalse(good("--random-fully", "--random-fully=F").isOn(flag("random-fully")));
    assertFalse(
        good("--random-fully", "--random-fully=F").defaults().config().of(Key.RANDOM_FULLY));
    assertTrue(good().defaults().config().of(Key.RANDOM_FULLY));
  }

  @Test
  void twoDashesEndTheFlags() throws WrongUsage {
    assertEquals(List.of("--v"), good("explain", "--", "--v").operands());
  }

  @Test
  void klogsFlagsAreTakenAndNamed() throws WrongUsage {
    CommandLine line = good("--logtostderr", "--stderrthreshold", "INFO", "--vmodule=a=1");
    assertEquals(
        List.of("logtostderr", "stderrthreshold", "vmodule"),
        line.flags().keySet().stream().filter(Flag.KLOG::contains).map(Flag::name).toList());
    assertEquals(Command.RUN, line.command());
  }

  @Test
  void whatIsWrongIsSaid() {
    assertEquals("unknown flag --enable-ipv: did you mean --enable-ipv6?", wrong("--enable-ipv"));
    assertEquals("unknown flag --xyzzy-frobnicate", wrong("--xyzzy-frobnicate"));
    assertEquals("--enable-ipv6 is true or false, not \"yes\"", wrong("--enable-ipv6=yes"));
    assertEquals("--v is a whole number, not \"x\"", wrong("--v=x"));
    assertEquals("--masq-chain needs a value: --masq-chain=NAME", wrong("--masq-chain"));
  }

  private static Flag flag(String name) throws WrongUsage {
    return Flag.named(name);
  }

  private static CommandLine good(String... args) throws WrongUsage {
    return CommandLine.parse(List.of(args));
  }

  private static String wrong(String... args) {
    return assertThrows(WrongUsage.class, () -> good(args)).getMessage();
  }
}
