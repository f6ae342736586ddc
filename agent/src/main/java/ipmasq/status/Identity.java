package ipmasq.status;

import java.time.Instant;
import java.util.Optional;

/**
 * Which agent this is.
 *
 * @param node the node's name, where it is known
 * @param started empty if no agent runs, and a command looked for itself
 */
public record Identity(String version, Optional<String> node, Optional<Instant> started) {}
