package ipmasq.policy;

import ipmasq.net.Cidrs;
import ipmasq.net.Ip;
import java.util.Optional;

/**
 * A policy that replaces another, and what that means for established flows: a flow keeps the
 * source of its first packet until its tracking entry is deleted.
 *
 * <p>The interface that a flow leaves by is not visible. It is assumed to be one of the policy's;
 * if the two policies name different ones, every flow that either would translate counts as
 * changed.
 */
public final class Revision {
  private final Side before;
  private final Side after;

  public Revision(Policy before, Policy after) {
    this.before = new Side(before);
    this.after = new Side(after);
  }

  /**
   * Whether a flow is treated differently from now on, and its source shows that it was not so far.
   *
   * @param packet how it came; not to the node itself
   * @param given the source that it leaves with, if that is not its own
   */
  public boolean concerns(Packet packet, Optional<Ip> given) {
    Fate was = before.fate(packet);
    Fate is = after.fate(packet);
    boolean otherInterfaces =
        !before.policy.interfaces().equals(after.policy.interfaces())
            && (was instanceof Fate.Translated || is instanceof Fate.Translated);
    if (otherInterfaces) {
      return given.isPresent() || is instanceof Fate.Translated;
    }
    return !was.equals(is) && !is.isThatOf(given);
  }

  /** The treatment of a packet, as far as its source address shows it. */
  private sealed interface Fate {
    /** It is out of scope; other programs may translate it. */
    record Untouched() implements Fate {}

    record Kept(boolean pinned) implements Fate {}

    record Translated(Translation how) implements Fate {
      @Override
      public boolean equals(Object other) {
        return other instanceof Translated(var another)
            && how.addresses().equals(another.addresses());
      }

      @Override
      public int hashCode() {
        return how.addresses().hashCode();
      }
    }

    /** Whether a flow that leaves with this source already got this treatment. */
    default boolean isThatOf(Optional<Ip> given) {
      return switch (this) {
        case Untouched _, Kept _ -> given.isEmpty();
        case Translated(var how) ->
            given.isPresent()
                && how.addresses().map(range -> range.contains(given.get())).orElse(true);
      };
    }
  }

  /** A policy with sorted ranges, for binary search. */
  private static final class Side {
    private final Policy policy;
    private final Cidrs exempt;

    Side(Policy policy) {
      this.policy = policy;
      this.exempt = policy.exempt();
    }

    Fate fate(Packet packet) {
      if (!policy.sources().isEmpty() && policy.sources().stream().noneMatch(packet::comesFrom)) {
        return new Fate.Untouched();
      }
      return exempt.holding(packet.destination()).isPresent()
          ? new Fate.Kept(policy.pinned())
          : new Fate.Translated(policy.translation());
    }
  }
}
