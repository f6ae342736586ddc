/**
 * What really happens to packets: other programs' rules, live flows, and the one thread that
 * gathers it.
 */
@NullMarked
package ipmasq.evidence;

import org.jspecify.annotations.NullMarked;
