package ipmasq.loop;

import ipmasq.backend.Flows;
import ipmasq.net.Ip;
import java.util.Set;
import java.util.function.Supplier;

/**
 * What a pass may ask of the node beside its rules.
 *
 * @param addresses those of its interfaces; asked only where the config needs them
 */
public record Host(Supplier<Set<Ip>> addresses, Flows flows) {
  /** One that tells nothing. */
  static final Host UNKNOWN = new Host(Set::of, Flows.NONE);
}
