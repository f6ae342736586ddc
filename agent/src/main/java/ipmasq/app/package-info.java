/**
 * What runs beside the syncs (status server, conflict watch, flow watch, probation), and what
 * commands and the agent know of this node: its backends, addresses and processes.
 */
@NullMarked
package ipmasq.app;

import org.jspecify.annotations.NullMarked;
