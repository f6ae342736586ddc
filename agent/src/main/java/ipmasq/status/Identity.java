package ipmasq.status;

import java.time.Instant;
import java.util.Optional;

/**
 * Which agent this is.
 *
 * @param node the node's name, if known
 * @param started empty if no agent is running and a command read the state itself
 */
public record Identity(String version, Optional<String> node, Optional<Instant> started) {}
