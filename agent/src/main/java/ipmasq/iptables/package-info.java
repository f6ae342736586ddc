/**
 * The iptables programs of this node: which there are, which of the two kinds the node uses, and
 * running one with a deadline.
 */
@NullMarked
package ipmasq.iptables;

import org.jspecify.annotations.NullMarked;
