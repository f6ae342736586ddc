package ipmasq.status;

import java.time.Instant;
import java.util.Optional;

/**
 * Which agent this is.
 *
 * @param node the node's name, where it is known
 */
public record Identity(String version, Optional<String> node, Instant started) {}
