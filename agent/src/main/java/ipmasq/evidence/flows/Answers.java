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
import java.util.function.Predicate;

/**
 * How sampled flows went, by source, destination, protocol and treatment: how many somebody
 * answered, and how many went as the config says. Of one source and destination at most five
 * answers count, so that a single busy pair proves nothing. Bounded. Used by one thread.
 */
public final class Answers {
  private static final int MOST_PAIRS = 4_096;
  private static final int MOST_OF_PAIR = 5;

  private final Map<Pair, int[]> counts = new LinkedHashMap<>();

  /** What a flow showed: what became of it three seconds after it began, and how it was judged. */
  enum Outcome {
    ANSWERED,
    SILENT,
    /** Nothing is known: it was refused, or is over. */
    GONE,
    AS_CONFIG,
    AGAINST_CONFIG
  }

  /** Where flows go, and whether they leave with another source. */
  record Target(Ip destination, int protocol, boolean translated) {}

  private record Pair(Target target, Ip source) {}

  /**
   * Some flows.
   *
   * @param flows how many were answered or not
   * @param gone how many were refused or closed before that was known
   * @param judged how many could be compared with the config
   * @param against how many of those went against it
   */
  public record Share(int flows, int answered, int gone, int judged, int against, Set<Ip> sources) {
    static final Share NONE = new Share(0, 0, 0, 0, 0, Set.of());

    static Share of(Ip source, int... count) {
      int flows = count[Outcome.ANSWERED.ordinal()] + count[Outcome.SILENT.ordinal()];
      int against = count[Outcome.AGAINST_CONFIG.ordinal()];
      return new Share(
          flows,
          count[Outcome.ANSWERED.ordinal()],
          count[Outcome.GONE.ordinal()],
          count[Outcome.AS_CONFIG.ordinal()] + against,
          against,
          Set.of(source));
    }

    Share and(Share other) {
      Set<Ip> all = new HashSet<>(sources);
      all.addAll(other.sources);
      return new Share(
          flows + other.flows,
          answered + other.answered,
          gone + other.gone,
          judged + other.judged,
          against + other.against,
          all);
    }

    Map<String, Object> fields() {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("flows", flows);
      fields.put("answered", answered);
      fields.put("refusedOrClosed", gone);
      return fields;
    }

    int percent() {
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
    int[] one = new int[Outcome.values().length];
    one[outcome.ordinal()] = 1;
    Target target = new Target(flow.destination(), flow.protocol(), flow.translated());
    add(new Pair(target, flow.source()), one);
  }

  private void add(Pair pair, int[] more) {
    if (counts.containsKey(pair) || counts.size() < MOST_PAIRS) {
      int[] count = counts.computeIfAbsent(pair, _ -> new int[more.length]);
      for (int i = 0; i < more.length; i++) {
        int room = MOST_OF_PAIR - count[0] - count[1] - count[2];
        count[i] += i > Outcome.GONE.ordinal() ? more[i] : Math.min(more[i], room);
      }
    }
  }

  /** Those of both. */
  Answers and(Answers other) {
    Answers all = new Answers();
    counts.forEach(all::add);
    other.counts.forEach(all::add);
    return all;
  }

  /** Those to such targets. */
  Answers only(Predicate<Target> which) {
    Answers some = new Answers();
    counts.forEach(
        (pair, count) -> {
          if (which.test(pair.target)) {
            some.add(pair, count);
          }
        });
    return some;
  }

  boolean isEmpty() {
    return counts.isEmpty();
  }

  /** Sums by what a target belongs to; those that belong to nothing are left out. */
  <K> Map<K, Share> by(Function<Target, Optional<K>> group) {
    Map<K, Share> shares = new LinkedHashMap<>();
    counts.forEach(
        (pair, count) ->
            group
                .apply(pair.target)
                .ifPresent(key -> shares.merge(key, Share.of(pair.source, count), Share::and)));
    return shares;
  }

  /** One line per source and target, for {@link #parse}. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    counts.forEach(
        (pair, count) ->
            lines.add(
                "%s %d %b %s %d %d %d"
                    .formatted(
                        pair.target.destination,
                        pair.target.protocol,
                        pair.target.translated,
                        pair.source,
                        count[0],
                        count[1],
                        count[2])));
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
        int[] count = new int[Outcome.values().length];
        for (int i = 0; i <= Outcome.GONE.ordinal(); i++) {
          count[i] = Math.clamp(Integer.parseInt(words[4 + i]), 0, MOST_OF_PAIR);
        }
        answers.add(new Pair(target, Ip.of(words[3])), count);
      } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException foreign) {
        // Figures are a help, not a promise.
      }
    }
    return answers;
  }
}
