package ipmasq.config;

import ipmasq.net.Cidrs;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** How values of one key from several files are merged. */
interface Merge<T> {
  /** Merges two values; empty if they contradict each other. */
  Optional<T> merge(T first, T next);

  /** One list of all elements, each once. */
  static <E> Merge<List<E>> unite() {
    return (first, next) -> {
      Set<E> all = new LinkedHashSet<>(first);
      all.addAll(next);
      return Optional.of(List.copyOf(all));
    };
  }

  /** All ranges, each once. */
  static Merge<Cidrs> uniteRanges() {
    return (first, next) -> Optional.of(first.followedBy(next).distinct());
  }

  /** True if one of them is. */
  static Merge<Boolean> or() {
    return (first, next) -> Optional.of(first || next);
  }

  /** They must agree. */
  static <T> Merge<T> agree() {
    return (first, next) -> first.equals(next) ? Optional.of(first) : Optional.empty();
  }
}
