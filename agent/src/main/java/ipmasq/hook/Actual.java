package ipmasq.hook;

import java.util.List;
import java.util.Optional;

/** What happens to a packet at the hook. Everything that is reported derives from this. */
public sealed interface Actual {
  /**
   * It leaves with its own source.
   *
   * @param by the rule that binds it to that source; empty if no rule translates it
   */
  record Kept(Optional<Decision> by) implements Actual {}

  /**
   * It leaves with another source.
   *
   * @param by the candidate rules: all of them translate it, perhaps to different sources
   */
  record Translated(List<Decision> by) implements Actual {
    public Translated {
      by = List.copyOf(by);
    }
  }

  /** It is dropped. */
  record Dropped(Decision by) implements Actual {}

  /** It depends on unknown properties of the packet, or on matches that this agent cannot judge. */
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
