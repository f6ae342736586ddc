package ipmasq.sync;

import ipmasq.backend.Flows;
import ipmasq.net.Ip;
import java.util.Set;
import java.util.function.Supplier;

/**
 * What a pass asks about the node besides its rules.
 *
 * @param addresses those of its interfaces; asked only if the config needs them
 */
public record Host(Supplier<Set<Ip>> addresses, Flows flows) {
  /** Knows nothing. */
  static final Host UNKNOWN = new Host(Set::of, Flows.NONE);
}
