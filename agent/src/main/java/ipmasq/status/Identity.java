package ipmasq.status;

import java.time.Instant;
import java.util.Optional;

/**
 * Which agent this is.
 *
 * @param node the node's name, if known
 * @param started empty if a command read the state itself, and so knows nothing of the past
 * @param keeper who keeps the rules, and so what may be said of them
 */
public record Identity(
    String version, Optional<String> node, Optional<Instant> started, Keeper keeper) {}
