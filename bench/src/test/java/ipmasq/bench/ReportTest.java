package ipmasq.bench;

import static java.util.stream.Collectors.joining;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReportTest {
  @Test
  void saysOfEachPromiseWhetherItIsMet() {
    Report report = new Report();
    report.measured(Promise.CONFIG_IPTABLES, 19.96);
    report.measured(Promise.CONFIG_NFTABLES, 23);
    String verdicts = report.verdicts();
    assertEquals(
        """
        met          config file → rules, iptables, median: 20.0 ms (≤ 50 ms)
        NOT MET      config file → rules, nftables, median: 23 ms (≤ 20 ms)
        not measured flushed chain → healed, alone on the node, longest: – (≤ 1,500 ms)""",
        verdicts.lines().skip(3).limit(3).collect(joining("\n")));
    int all = Promise.values().length;
    assertTrue(
        verdicts.endsWith(
            "1 of " + all + " promises met, 1 not met, " + (all - 2) + " not measured."),
        verdicts);
  }

  @Test
  void putsPromisesAndGapsBeforeTheSections() {
    Report report = new Report();
    report.gap("the moon");
    report.section("More", "Words.");
    report.table(List.of(new String[] {"what", "cost"}, new String[] {"this", "1"}));
    String text = report.markdown("# Head");
    assertTrue(text.startsWith("# Head\n\n## Promises\n\n0 of "), text);
    assertTrue(
        text.endsWith(
            """
            Not measured here:

            - the moon

            ## More

            Words.

            | what | cost |
            |---|---:|
            | this | 1 |
            """),
        text);
  }

  @Test
  void figuresHaveTheDigitsThatMeanSomething() {
    assertEquals("0.0123 ms", Unit.MILLISECONDS.text(0.01234));
    assertEquals("0.92", Unit.RATIO.text(0.92));
    assertEquals("12.3 µs", Unit.MICROSECONDS.text(12.34));
    assertEquals("45 MB", Unit.MEGABYTES.text(45));
    assertEquals("1,234 ms", Unit.MILLISECONDS.text(1234.4));
    assertEquals("0", Unit.COUNT.text(0));
  }

  @Test
  void aPictureHasALineForEachName() {
    Chart chart = new Chart("ranges", "µs");
    chart.line("flat", "#000000", Map.of(10, 5.0, 1000, 5.0));
    chart.line("steep", "#ff0000", Map.of(10, 5.0, 1000, 500.0));
    String svg = chart.svg();
    assertEquals(2, svg.split("stroke-width", -1).length - 1);
    assertTrue(svg.indexOf(">steep<") < svg.indexOf(">flat<"), svg);
  }
}
