package ipmasq.hook;

import java.util.List;
import java.util.Optional;

/** What happens to a packet at the hook: the one truth that everything else speaks from. */
public sealed interface Actual {
  /**
   * It leaves with the source that it has.
   *
   * @param by the rule that binds it to that source; empty if no rule gives it another
   */
  record Kept(Optional<Decision> by) implements Actual {}

  /**
   * It leaves with another source.
   *
   * @param by the rules that may be the one: all of them translate it, but maybe to different
   *     sources
   */
  record Translated(List<Decision> by) implements Actual {
    public Translated {
      by = List.copyOf(by);
    }
  }

  /** It goes nowhere. */
  record Dropped(Decision by) implements Actual {}

  /** It depends on what is not known of the packet, or on what these rules ask and we cannot. */
  record UnknownActual(List<Decision> perhaps) implements Actual {
    public UnknownActual {
      perhaps = List.copyOf(perhaps);
    }
  }

  /** One word that scripts may test for. */
  default String word() {
    return switch (this) {
      case Kept _ -> "kept";
      case Translated _ -> "translated";
      case Dropped _ -> "dropped";
      case UnknownActual _ -> "unknown";
    };
  }
}
