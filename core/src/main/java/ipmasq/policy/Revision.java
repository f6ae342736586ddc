package ipmasq.policy;

import ipmasq.net.Cidrs;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
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
    this.before = new Side(before, before.exempt());
    this.after = new Side(after, after.exempt());
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
            && (was.translated || is.translated);
    return otherInterfaces
        ? given.isPresent() || is.translated
        : !was.equals(is) && !is.isThatOf(given);
  }

  /**
   * The treatment of a packet, as far as its source address shows it.
   *
   * @param pinned whether other programs cannot translate it either
   */
  private record Fate(
      boolean inScope, boolean translated, boolean pinned, Optional<IpRange> addresses) {
    /** Whether a flow that leaves with this source already got this treatment. */
    boolean isThatOf(Optional<Ip> given) {
      return translated
          ? given.isPresent() && addresses.map(range -> range.contains(given.get())).orElse(true)
          : given.isEmpty();
    }
  }

  /** A policy with its ranges in order, for binary search. */
  private record Side(Policy policy, Cidrs exempt) {
    Fate fate(Packet packet) {
      if (!policy.sources().isEmpty() && policy.sources().stream().noneMatch(packet::comesFrom)) {
        return new Fate(false, false, false, Optional.empty());
      }
      return exempt.holding(packet.destination()).isPresent()
          ? new Fate(true, false, policy.pinned(), Optional.empty())
          : new Fate(true, true, false, policy.translation().addresses());
    }
  }
}
