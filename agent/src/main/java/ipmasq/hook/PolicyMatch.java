package ipmasq.hook;

import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import java.util.List;

/** What our own policy does with packets. */
record PolicyMatch(Policy policy, Flow flow) {
  private static final Marks NO_MARKS = Marks.zero(0); // our rules do not ask for any

  /**
   * Whether it translates them.
   *
   * @param provided gets the conditions that could not be evaluated
   */
  Truth translates(List<Condition> provided) {
    return scope(provided).and(destination(provided));
  }

  /** Whether it binds them to their own source, if it pins. */
  Truth pins(List<Condition> provided) {
    return scope(provided).and(destination(provided).not());
  }

  /** Whether these packets are in the policy's scope. */
  private Truth scope(List<Condition> provided) {
    if (flow.wanted().isPresent()) {
      return Truth.YES;
    }
    Truth truth = Truth.of(!flow.local());
    if (!policy.sources().isEmpty()) {
      truth =
          truth.and(
              asked(new Condition.Source(AddressRanges.ofBlocks(policy.sources())), provided));
    }
    if (!policy.interfaces().isEmpty()) {
      truth = truth.and(asked(new Condition.Out(policy.interfaces()), provided));
    }
    return truth;
  }

  private Truth asked(Condition condition, List<Condition> provided) {
    Truth holds = condition.holds(flow, NO_MARKS);
    if (holds == Truth.MAYBE) {
      provided.add(condition);
    }
    return holds;
  }

  /** The first range that holds all destinations decides; one that holds a part leaves it open. */
  private Truth destination(List<Condition> provided) {
    if (flow.wanted().isPresent()) {
      return Truth.of(flow.wanted().get() == Treatment.TRANSLATE);
    }
    Truth open = Truth.NO; // whether an earlier destination may have decided
    Treatment earlier = Treatment.TRANSLATE;
    for (Destination destination : policy.destinations()) {
      Condition inside = Condition.destination(destination.range());
      Truth holds = inside.holds(flow, NO_MARKS);
      if (holds == Truth.YES) {
        Truth truth = Truth.of(destination.treatment() == Treatment.TRANSLATE);
        return open == Truth.NO || earlier == destination.treatment() ? truth : Truth.MAYBE;
      }
      if (holds == Truth.MAYBE) {
        open = Truth.MAYBE;
        earlier = destination.treatment();
        provided.add(inside);
      }
    }
    return open == Truth.NO || earlier == Treatment.TRANSLATE ? Truth.YES : Truth.MAYBE;
  }
}
