/**
 * Wires the agent: the settings of a process, the backends of the node, and the services beside the
 * loop (status server, config watchers, conflict watch).
 */
@NullMarked
package ipmasq.app;

import org.jspecify.annotations.NullMarked;
