package ipmasq.status;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.backend.Observation;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.plan.Counter;
import ipmasq.plan.Tally;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class FlowHistoryTest {
  private static final Cidr TEN = Cidr.of("10.0.0.0/8");

  /** Any time will do; a JVM's clock may well be negative. */
  private static final long BEGIN = -7 * MinuteSeries.NANOS;

  private final FlowHistory history = new FlowHistory();

  private void look(double minute, long translated, Map<Cidr, Counter> ranges) {
    long exempted = ranges.values().stream().mapToLong(Counter::packets).sum();
    Tally tally = new Tally(ranges, new Counter(exempted, 0), new Counter(translated, 0));
    Observation seen = new Observation.Seen(Story.observed(Family.IPV4, Optional.empty(), tally));
    history.record(Map.of(Family.IPV4, seen), at(minute));
  }

  private static long at(double minute) {
    return BEGIN + (long) (minute * MinuteSeries.NANOS);
  }

  private static Map<Cidr, Counter> ten(long flows) {
    return Map.of(TEN, new Counter(flows, 60));
  }

  private FlowHistory.Hour hour(double minute) {
    return history.hour(at(minute), 8).orElseThrow();
  }

  private FlowHistory.FamilyFlows flows(double minute) {
    return hour(minute).families().getFirst();
  }

  @Test
  void nothingIsKnownBeforeTheFirstLook() {
    assertTrue(history.hour(0, 8).isEmpty());
  }

  @Test
  void whatWasCountedBeforeTheFirstLookIsNoTraffic() {
    look(0.5, 1000, ten(500));
    look(0.75, 1003, ten(500));
    assertEquals(List.of(3.0), flows(0.75).translated());
    assertEquals(List.of(0.0), flows(0.75).exempted());
    assertEquals(List.of(), flows(0.75).ranges(), "only ranges with traffic are worth a plot");
  }

  @Test
  void spreadsWhatWasCountedBetweenLooks() {
    look(0.5, 0, ten(0));
    look(2.5, 40, ten(20));
    assertEquals(List.of(10.0, 20.0, 10.0), flows(2.5).translated());
    assertEquals(
        List.of(new FlowHistory.RangeFlows(TEN, List.of(5.0, 10.0, 5.0))), flows(2.5).ranges());
    assertEquals(List.of(10.0, 20.0, 10.0, 0.0), flows(3.1).translated());
  }

  @Test
  void aCounterThatWentBackBeganAnew() {
    look(0, 100, ten(7));
    look(0.5, 2, ten(7));
    assertEquals(List.of(2.0), flows(0.5).translated());
  }

  @Test
  void forgetsWhatIsOlderThanAnHour() {
    look(0, 0, ten(0));
    look(0.9, 60, ten(0));
    look(30.5, 60, ten(0));
    assertEquals(60.0, flows(59).translated().getFirst());
    assertEquals(60, flows(59).translated().size());
    assertEquals(Collections.nCopies(60, 0.0), flows(60).translated());
    look(1000, 60 + 940, ten(0));
    assertEquals(60, flows(1000).translated().size());
    double mean = 940 / 969.5;
    assertEquals(Math.rint(mean * 10) / 10, flows(1000).translated().get(5));
  }

  @Test
  void saysSinceWhenItKnows() {
    look(0.5, 0, ten(0));
    look(1.5, 1, ten(0));
    assertEquals(MinuteSeries.NANOS, hour(1.5).known());
    assertEquals(at(1.5) - at(0), hour(1.5).age(), "the plot begins with a whole minute");
  }

  @Test
  void followsTheBusiestOfManyRanges() {
    Map<Cidr, Counter> before = new HashMap<>();
    Map<Cidr, Counter> after = new HashMap<>();
    for (int i = 0; i < 250; i++) {
      Cidr range = Cidr.of("10." + i + ".0.0/16");
      before.put(range, new Counter(5, 60));
      after.put(range, new Counter(5 + i, 60));
    }
    look(0, 0, before);
    look(0.5, 0, after);
    List<FlowHistory.RangeFlows> busiest = flows(0.5).ranges();
    assertEquals(8, busiest.size());
    assertEquals(Cidr.of("10.249.0.0/16"), busiest.getFirst().range());
    assertEquals(List.of(249.0), busiest.getFirst().flows());
    assertEquals(Cidr.of("10.242.0.0/16"), busiest.getLast().range());
    assertEquals(
        FlowHistory.RANGES,
        history.hour(at(0.5), 1000).orElseThrow().families().getFirst().ranges().size());
  }
}
