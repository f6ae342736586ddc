package ipmasq.status;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.backend.Observation;
import ipmasq.config.ParsedJson;
import ipmasq.json.Fields;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.plan.Tally;
import ipmasq.plan.Tally.Counter;
import java.time.Instant;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class FlowHistoryTest {
  private static final Cidr TEN = Cidr.of("10.0.0.0/8");

  /** Any time will do; a JVM's clock may well be negative. */
  private static final long BEGIN = -7 * FlowHistory.MINUTE;

  private final FlowHistory history = new FlowHistory();

  private void look(double minute, long translated, Map<Cidr, Counter> ranges) {
    long exempted = ranges.values().stream().mapToLong(Counter::packets).sum();
    Tally tally = new Tally(ranges, new Counter(exempted, 0), new Counter(translated, 0));
    Observation seen = new Observation.Seen(Story.observed(Family.IPV4, Optional.empty(), tally));
    history.record(
        new Status.Sample(Instant.EPOCH, Map.of(Family.IPV4, seen), Optional.empty()), at(minute));
  }

  private static long at(double minute) {
    return BEGIN + (long) (minute * FlowHistory.MINUTE);
  }

  private static Map<Cidr, Counter> ten(long flows) {
    return Map.of(TEN, new Counter(flows, 60));
  }

  private Fields hour(double minute, int ranges) {
    return history.hour(at(minute), Instant.EPOCH, ranges).orElseThrow();
  }

  private Map<String, Object> flows(double minute) {
    return family(hour(minute, 8));
  }

  private static Map<String, Object> family(Fields hour) {
    return ParsedJson.maps(hour.get("families")).getFirst();
  }

  private List<?> translated(double minute) {
    return (List<?>) flows(minute).get("translated");
  }

  @Test
  void nothingIsKnownBeforeTheFirstLook() {
    assertTrue(history.hour(0, Instant.EPOCH, 8).isEmpty());
  }

  @Test
  void whatWasCountedBeforeTheFirstLookIsNoTraffic() {
    look(0.5, 1000, ten(500));
    look(0.75, 1003, ten(500));
    assertEquals(List.of(3.0), translated(0.75));
    assertEquals(List.of(0.0), flows(0.75).get("exempted"));
    assertEquals(List.of(), flows(0.75).get("ranges"), "only ranges with traffic are worth a plot");
  }

  @Test
  void spreadsWhatWasCountedBetweenLooks() {
    look(0.5, 0, ten(0));
    look(2.5, 40, ten(20));
    assertEquals(List.of(10.0, 20.0, 10.0), translated(2.5));
    assertEquals(
        List.of(Map.of("range", TEN, "flows", List.of(5.0, 10.0, 5.0))), flows(2.5).get("ranges"));
    assertEquals(List.of(10.0, 20.0, 10.0, 0.0), translated(3.1));
  }

  @Test
  void aCounterThatWentBackBeganAnew() {
    look(0, 100, ten(7));
    look(0.5, 2, ten(7));
    assertEquals(List.of(2.0), translated(0.5));
  }

  @Test
  void forgetsWhatIsOlderThanAnHour() {
    look(0, 0, ten(0));
    look(0.9, 60, ten(0));
    look(30.5, 60, ten(0));
    assertEquals(60.0, translated(59).getFirst());
    assertEquals(60, translated(59).size());
    assertEquals(Collections.nCopies(60, 0.0), translated(60));
    look(1000, 60 + 940, ten(0));
    assertEquals(60, translated(1000).size());
    double mean = 940 / 969.5;
    assertEquals(Math.rint(mean * 10) / 10, translated(1000).get(5));
  }

  @Test
  void saysSinceWhenItKnows() {
    look(0.5, 0, ten(0));
    look(1.5, 1, ten(0));
    assertEquals(Instant.EPOCH.minusSeconds(60), hour(1.5, 8).get("known"));
    assertEquals(
        Instant.EPOCH.minusSeconds(90),
        hour(1.5, 8).get("from"),
        "the plot begins with a whole minute");
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
    List<Map<String, Object>> busiest = ParsedJson.maps(flows(0.5).get("ranges"));
    assertEquals(8, busiest.size());
    assertEquals(
        Map.of("range", Cidr.of("10.249.0.0/16"), "flows", List.of(249.0)), busiest.getFirst());
    assertEquals(Cidr.of("10.242.0.0/16"), busiest.getLast().get("range"));
    List<?> followed = (List<?>) family(hour(0.5, 1000)).get("ranges");
    assertEquals(FlowHistory.RANGES, followed.size());
  }
}
