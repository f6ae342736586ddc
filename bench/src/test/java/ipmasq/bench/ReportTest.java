package ipmasq.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReportTest {
  @Test
  void saysPlainlyWhatWasMissed() {
    Report report = new Report();
    report.goal("quick", 50, 19.96, Unit.MILLISECONDS);
    report.goal("cheap", 1.1, 1.2, Unit.RATIO);
    report.gap("the moon");
    report.section("More", "Words.");
    report.table(List.of(new String[] {"what", "cost"}, new String[] {"this", "1"}));
    assertEquals(
        """
        # Head

        ## Promises

        1 of 2 met, 1 missed.

        | what | promised | measured | met |
        |---|---:|---:|---:|
        | quick | ≤ 50 ms | 20.0 ms | yes |
        | cheap | ≤ 1.10 | 1.20 | NO |

        Not measured here:

        - the moon

        ## More

        Words.

        | what | cost |
        |---|---:|
        | this | 1 |
        """,
        report.markdown("# Head"));
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
