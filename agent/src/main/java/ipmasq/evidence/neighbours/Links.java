package ipmasq.evidence.neighbours;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The node's interfaces as numbers, in the order of their names, so that those with one prefix are
 * an interval. Number 0, without a name, is that of packets that come in, or leave, by none.
 */
record Links(List<String> names) {
  static final Interval NONE = Interval.of(0, 0);

  Links {
    names = Stream.concat(Stream.of(""), names.stream()).distinct().sorted().toList();
  }

  Interval all() {
    return names.size() == 1 ? NONE : Interval.of(1, names.size() - 1);
  }

  /** Those that a rule means: a trailing {@code +} matches any suffix. */
  Optional<Interval> named(String pattern) {
    boolean prefix = pattern.endsWith("+");
    String text = prefix ? pattern.substring(0, pattern.length() - 1) : pattern;
    int first = 0;
    while (first < names.size() && !isNamed(names.get(first), text, prefix)) {
      first++;
    }
    int end = first;
    while (end < names.size() && isNamed(names.get(end), text, prefix)) {
      end++;
    }
    return first == end ? Optional.empty() : Optional.of(Interval.of(first, end - 1));
  }

  /** Those that any of these means. */
  List<Interval> named(List<String> patterns) {
    return Interval.merged(patterns.stream().flatMap(pattern -> named(pattern).stream()).toList());
  }

  private static boolean isNamed(String name, String text, boolean prefix) {
    return prefix ? name.startsWith(text) : name.equals(text);
  }

  String name(Interval single) {
    return names.get(single.first().intValue());
  }
}
