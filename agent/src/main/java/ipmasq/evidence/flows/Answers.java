package ipmasq.evidence.flows;

import ipmasq.net.Ip;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * How many sampled flows somebody answered, by destination, protocol and treatment. Of one source
 * and destination at most five flows count, so that a single busy pair proves nothing. Bounded.
 * Used by one thread.
 */
public final class Answers {
  private static final int MOST_DESTINATIONS = 1_024;
  private static final int MOST_SOURCES = 8;
  private static final int MOST_OF_PAIR = 5;

  private final Map<Target, Map<Ip, int[]>> counts = new LinkedHashMap<>();

  /** What became of a flow three seconds after it began. */
  public enum Outcome {
    ANSWERED,
    SILENT,
    /** Nothing is known: it was refused, or is over. */
    GONE
  }

  /** Where flows go, and whether they leave with another source. */
  public record Target(Ip destination, int protocol, boolean translated) {}

  /**
   * Some flows.
   *
   * @param flows how many were answered or not
   * @param gone how many were refused or closed before they were judged
   */
  public record Share(int flows, int answered, int gone, Set<Ip> sources) {
    public static final Share NONE = new Share(0, 0, 0, Set.of());

    public Share {
      sources = Set.copyOf(sources);
    }

    Share and(Share other) {
      Set<Ip> all = new HashSet<>(sources);
      all.addAll(other.sources);
      return new Share(flows + other.flows, answered + other.answered, gone + other.gone, all);
    }

    Map<String, Object> fields() {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("flows", flows);
      fields.put("answered", answered);
      fields.put("refusedOrClosed", gone);
      return fields;
    }

    public int percent() {
      return flows == 0 ? 0 : 100 * answered / flows;
    }

    @Override
    public String toString() {
      return flows == 0 && gone > 0
          ? "all " + gone + " refused or closed"
          : answered + " of " + flows;
    }
  }

  void add(SampledFlow flow, Outcome outcome) {
    add(new Target(flow.destination(), flow.protocol(), flow.translated()), flow.source(), outcome);
  }

  private void add(Target target, Ip source, Outcome outcome) {
    if (!counts.containsKey(target) && counts.size() >= MOST_DESTINATIONS) {
      return;
    }
    Map<Ip, int[]> sources = counts.computeIfAbsent(target, _ -> new LinkedHashMap<>());
    if (!sources.containsKey(source) && sources.size() >= MOST_SOURCES) {
      return;
    }
    int[] count = sources.computeIfAbsent(source, _ -> new int[Outcome.values().length]);
    if (count[0] + count[1] + count[2] < MOST_OF_PAIR) {
      count[outcome.ordinal()]++;
    }
  }

  /** Those of both. */
  public Answers and(Answers other) {
    Answers all = new Answers();
    for (Answers each : List.of(this, other)) {
      each.counts.forEach(
          (target, sources) ->
              sources.forEach(
                  (source, count) -> {
                    for (Outcome outcome : Outcome.values()) {
                      for (int i = 0; i < count[outcome.ordinal()]; i++) {
                        all.add(target, source, outcome);
                      }
                    }
                  }));
    }
    return all;
  }

  public boolean isEmpty() {
    return counts.isEmpty();
  }

  /** Sums by what a target belongs to; those that belong to nothing are left out. */
  <K> Map<K, Share> by(Function<Target, Optional<K>> group) {
    Map<K, Share> shares = new LinkedHashMap<>();
    counts.forEach(
        (target, sources) ->
            group
                .apply(target)
                .ifPresent(
                    key ->
                        sources.forEach(
                            (source, count) ->
                                shares.merge(
                                    key,
                                    new Share(
                                        count[0] + count[1], count[0], count[2], Set.of(source)),
                                    Share::and))));
    return shares;
  }

  /** One line per source and target, for {@link #parse}. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    counts.forEach(
        (target, sources) ->
            sources.forEach(
                (source, count) ->
                    lines.add(
                        "%s %d %b %s %d %d %d"
                            .formatted(
                                target.destination,
                                target.protocol,
                                target.translated,
                                source,
                                count[0],
                                count[1],
                                count[2]))));
    return lines;
  }

  /** What {@link #lines} wrote; a line that it did not write is skipped. */
  public static Answers parse(List<String> lines) {
    Answers answers = new Answers();
    for (String line : lines) {
      String[] words = line.split(" ");
      try {
        Target target =
            new Target(Ip.of(words[0]), Integer.parseInt(words[1]), words[2].equals("true"));
        Ip source = Ip.of(words[3]);
        for (Outcome outcome : Outcome.values()) {
          int count = Math.min(MOST_OF_PAIR, Integer.parseInt(words[4 + outcome.ordinal()]));
          for (int i = 0; i < count; i++) {
            answers.add(target, source, outcome);
          }
        }
      } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException foreign) {
        // Figures are a help, not a promise.
      }
    }
    return answers;
  }
}
