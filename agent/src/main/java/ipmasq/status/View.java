package ipmasq.status;

import ipmasq.backend.Observation;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.plan.Counter;
import ipmasq.plan.Tally;
import ipmasq.policy.Policy;
import ipmasq.status.Meter.Sample;
import java.time.Instant;
import java.util.Optional;

/** What the agent knows of itself, together with what the kernel says right now. */
public record View(Status status, Sample sample, Instant now) {

  /** The policy in the kernel; where that cannot be read, the one that should be there. */
  Policy policy(Family family) {
    return seen(family)
        .flatMap(seen -> seen.observed().policy())
        .orElseGet(() -> Policy.of(status.last().config(), family));
  }

  private Optional<Observation.Seen> seen(Family family) {
    return sample.families().get(family) instanceof Observation.Seen seen
        ? Optional.of(seen)
        : Optional.empty();
  }

  Optional<Tally> tally(Family family) {
    return seen(family).flatMap(seen -> seen.observed().tally());
  }

  Optional<Counter> counter(Family family, Cidr range) {
    return tally(family).map(tally -> tally.ranges().get(range));
  }
}
